// A story told with @octokit/rest; prints as JSON what it saw.
//
// `node octokit_story.mjs API TOKEN`: see test_clients.py.

import { setTimeout as pause } from "node:timers/promises";
import { Octokit } from "@octokit/rest";

const [api, token] = process.argv.slice(2);
const client = new Octokit({ auth: token, baseUrl: api });
const repo = { owner: "alice", repo: "app" };
const label = "needs/review now";
const names = (labels) => labels.map((each) => each.name);

async function talk({ issues, reactions }) {
  const { data: made } = await issues.createLabel({
    ...repo,
    name: label,
    color: "0e8a16",
  });
  const { data: same } = await issues.getLabel({ ...repo, name: label });
  const { data: issue } = await issues.create({
    ...repo,
    title: "Fix it",
    labels: ["bug"],
  });
  const at = { ...repo, issue_number: issue.number };
  const both = await issues.addLabels({ ...at, labels: [label] });
  const listed = await issues.listForRepo({ ...repo, labels: label });
  const left = await issues.removeLabel({ ...at, name: label });
  const { data: comment } = await issues.createComment({ ...at, body: "Good." });
  const it = { ...repo, comment_id: comment.id };
  await issues.updateComment({ ...it, body: "Better." });
  await reactions.createForIssueComment({ ...it, content: "eyes" });
  const given = await reactions.listForIssueComment(it);
  const gone = await issues.createComment({ ...at, body: "Never mind." });
  await issues.deleteComment({ ...repo, comment_id: gone.data.id });
  await issues.createComment({ ...at, body: "Done." });
  const comments = await client.paginate(issues.listComments, { ...at, per_page: 1 });
  const closed = await issues.update({
    ...at,
    state: "closed",
    state_reason: "not_planned",
  });
  return {
    label: [made.name, same.color, same.url === made.url],
    labels: names(both.data),
    labelled: listed.data.map((each) => each.number === issue.number),
    unlabelled: names(left.data),
    comments: comments.map((each) => each.body),
    reactions: given.data.map((each) => each.content),
    issue: [closed.data.state, closed.data.state_reason],
  };
}

async function merge({ pulls, repos, checks }) {
  const { data: pull } = await pulls.create({
    ...repo,
    title: "Change",
    head: "topic",
    base: "main",
  });
  const at = { ...repo, pull_number: pull.number };
  await pulls.update({ ...at, base: "side" });
  const sha = pull.head.sha;
  const { data: check } = await checks.create({
    ...repo,
    name: "lint",
    head_sha: sha,
    status: "in_progress",
  });
  await checks.update({ ...repo, check_run_id: check.id, conclusion: "success" });
  await repos.createCommitStatus({ ...repo, sha, state: "success", context: "deploy" });
  const judged = await checks.listForRef({ ...repo, ref: sha });
  const status = await repos.getCombinedStatusForRef({ ...repo, ref: sha });
  const statuses = await repos.listCommitStatusesForRef({ ...repo, ref: sha });
  const refused = await pulls.merge({ ...at, sha: "0".repeat(40) }).catch((error) => error.status);
  const { data: merged } = await pulls.merge({ ...at, sha });
  const { data: again } = await pulls.get(at);
  const side = await repos.getBranch({ ...repo, branch: "side" });
  const main = await repos.getBranch({ ...repo, branch: "main" });
  return {
    base: again.base.ref,
    checks: judged.data.check_runs.map((each) => [each.name, each.status, each.conclusion]),
    status: [status.data.state, ...statuses.data.map((each) => each.context)],
    refused,
    merged: [merged.merged, again.merged],
    tip: side.data.commit.sha === merged.sha,
    untouched: main.data.commit.sha !== merged.sha,
  };
}

async function run({ actions }) {
  const inputs = { session: "fix-1/2/1", log: "a".repeat(40), nonce: "n0nce" };
  const workflow = { ...repo, workflow_id: "brat-task.yml" };
  const started = await actions.createWorkflowDispatch({ ...workflow, ref: "main", inputs });
  const listed = await actions.listWorkflowRuns({ ...workflow, event: "workflow_dispatch" });
  const at = { ...repo, run_id: listed.data.workflow_runs[0].id };
  let { data: found } = await actions.getWorkflowRun(at);
  while (found.status !== "completed") {
    await pause(50);
    ({ data: found } = await actions.getWorkflowRun(at));
  }
  const { data: kept } = await actions.listWorkflowRunArtifacts(at);
  const [artifact] = kept.artifacts;
  const zip = await actions.downloadArtifact({
    ...repo,
    artifact_id: artifact.id,
    archive_format: "zip",
  });
  return {
    started: started.status < 300,
    run: [found.event, found.conclusion],
    artifact: [artifact.name, Buffer.from(zip.data).includes("result.json")],
  };
}

const { rest } = client;
const { data: found } = await rest.repos.get(repo);
const seen = {
  repository: [found.full_name, found.default_branch, found.private],
  ...(await talk(rest)),
  ...(await merge(rest)),
  ...(await run(rest)),
};
process.stdout.write(JSON.stringify(seen));
