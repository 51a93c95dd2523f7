// A minimal probot app: each delivery is verified and parsed by probot, and kept as one
// file, on the disk before it is answered. It prints its port when it is ready.
import { generateKeyPairSync } from "node:crypto";
import { open, rename } from "node:fs/promises";
import { createServer } from "node:http";
import { createNodeMiddleware, createProbot } from "probot";

const [folder, secret] = process.argv.slice(2);
const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

async function settle() {
  const handle = await open(folder, "r");
  await handle.sync();
  await handle.close();
}

async function keep({ id, payload }) {
  if (payload.label.name !== "brat") return;
  const kept = {
    issue: payload.issue.number,
    title: payload.issue.title,
    text: payload.issue.body,
    by: payload.sender.login,
  };
  const beside = `${folder}/.${id}`;
  const handle = await open(beside, "wx", 0o600);
  await handle.writeFile(JSON.stringify(kept));
  await handle.sync();
  await handle.close();
  await rename(beside, `${folder}/${id}.json`);
  await settle();
}

const probot = createProbot({
  overrides: { appId: 1, privateKey, secret, logLevel: "fatal" },
});
const middleware = await createNodeMiddleware(
  (app) => app.on("issues.labeled", keep),
  { probot, webhooksPath: "/webhooks/github" },
);
const server = createServer(middleware);
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
