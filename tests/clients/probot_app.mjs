// A probot app: it welcomes whoever opens an issue, and puts a check on each push.
//
// `node probot_app.mjs API APP KEY SECRET`: the App's number, its private key's file and
// its webhook's secret. Prints the port that it listens on. See tests/clients/test_probot.py.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createNodeMiddleware, Probot } from "probot";

const [baseUrl, app, key, secret] = process.argv.slice(2);

function welcome(probot) {
  probot.on("issues.opened", async (context) => {
    const { login } = context.payload.sender;
    const { rest } = context.octokit;
    const said = context.issue({ body: `Welcome, ${login}!` });
    const { data } = await rest.issues.createComment(said);
    const given = { comment_id: data.id, content: "eyes" };
    await rest.reactions.createForIssueComment(context.repo(given));
  });
  probot.on("push", async (context) => {
    const { after: head_sha } = context.payload;
    const check = { name: "lint", head_sha, conclusion: "success" };
    await context.octokit.rest.checks.create(context.repo(check));
  });
}

const probot = new Probot({
  appId: Number(app),
  privateKey: readFileSync(key, "utf8"),
  secret,
  baseUrl,
  logLevel: "fatal",
});
const middleware = await createNodeMiddleware(welcome, { probot, webhooksPath: "/hook" });
const server = createServer(middleware).listen(0, "127.0.0.1", () => {
  console.log(server.address().port);
});
process.stdin.on("end", () => process.exit()).resume();
