// Cuts the part of GitHub's published OpenAPI description that this package
// answers from. The whole is in the npm package @octokit/openapi:
//
//	npm install @octokit/openapi@23.0.2
//	node cut.mjs node_modules/@octokit/openapi/generated/api.github.com.json >github.json
//
// Kept are the operations below with everything that they refer to; left out
// is what only people read (descriptions, examples).
import { readFileSync } from 'node:fs';

const operations = `
get /repos/{owner}/{repo}
get /repos/{owner}/{repo}/actions/jobs/{job_id}/logs
get /repos/{owner}/{repo}/actions/permissions/workflow
get /repos/{owner}/{repo}/actions/runs
get /repos/{owner}/{repo}/actions/runs/{run_id}
get /repos/{owner}/{repo}/actions/variables/{name}
get /repos/{owner}/{repo}/actions/workflows
post /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches
get /repos/{owner}/{repo}/branches/{branch}
get /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations
get /repos/{owner}/{repo}/collaborators
get /repos/{owner}/{repo}/collaborators/{username}/permission
get /repos/{owner}/{repo}/commits
get /repos/{owner}/{repo}/commits/{ref}/check-runs
get /repos/{owner}/{repo}/commits/{ref}/check-suites
get /repos/{owner}/{repo}/commits/{ref}/status
get /repos/{owner}/{repo}/issues
post /repos/{owner}/{repo}/issues
get /repos/{owner}/{repo}/issues/comments
get /repos/{owner}/{repo}/issues/{issue_number}
patch /repos/{owner}/{repo}/issues/{issue_number}
patch /repos/{owner}/{repo}/issues/comments/{comment_id}
post /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions
get /repos/{owner}/{repo}/issues/{issue_number}/comments
post /repos/{owner}/{repo}/issues/{issue_number}/comments
post /repos/{owner}/{repo}/issues/{issue_number}/assignees
post /repos/{owner}/{repo}/issues/{issue_number}/labels
delete /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}
get /repos/{owner}/{repo}/labels
post /repos/{owner}/{repo}/labels
get /repos/{owner}/{repo}/pulls
post /repos/{owner}/{repo}/pulls
get /repos/{owner}/{repo}/pulls/{pull_number}
patch /repos/{owner}/{repo}/pulls/{pull_number}
get /repos/{owner}/{repo}/pulls/{pull_number}/comments
post /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies
post /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions
put /repos/{owner}/{repo}/pulls/{pull_number}/merge
get /repos/{owner}/{repo}/pulls/{pull_number}/reviews
post /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers
get /repos/{owner}/{repo}/rules/branches/{branch}
get /user
`.trim().split('\n').map((line) => line.split(' '));

const whole = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const onlyForPeople = new Set(['description', 'summary', 'tags', 'externalDocs', 'examples', 'example', 'title', 'deprecated', 'deprecationReason']);
const components = {};

// strip drops what is for people. Below `properties` the keys are names of the
// data, not of the description.
function strip(node, names = false) {
  if (Array.isArray(node)) return node.map((item) => strip(item));
  if (node === null || typeof node !== 'object') return node;
  const kept = {};
  for (const [key, value] of Object.entries(node)) {
    if (!names && (onlyForPeople.has(key) || key.startsWith('x-'))) continue;
    if (!names && (key === 'enum' || key === 'required' || key === 'default')) {
      kept[key] = value;
      continue;
    }
    if (key === '$ref' && typeof value === 'string') refer(value);
    kept[key] = strip(value, !names && (key === 'properties' || key === 'headers' || key === 'content'));
  }
  return kept;
}

function refer(reference) {
  const [, , kind, name] = reference.split('/');
  components[kind] ??= {};
  if (name in components[kind]) return;
  components[kind][name] = {};
  components[kind][name] = describe(kind, strip(whole.components[kind][name]));
}

// describe gives responses the description that the format asks for.
function describe(kind, node) {
  return kind === 'responses' ? { description: '', ...node } : node;
}

const paths = {};
for (const [method, path] of operations) {
  const operation = strip(whole.paths[path][method]);
  for (const answer of Object.values(operation.responses)) {
    if (!answer.$ref) answer.description = '';
  }
  paths[path] ??= {};
  paths[path][method] = operation;
}

const sorted = (object) => Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
for (const kind of Object.keys(components)) components[kind] = sorted(components[kind]);
const cut = {
  openapi: whole.openapi,
  info: { title: 'GitHub REST API, the part that is used here', version: whole.info.version, license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT' } },
  paths,
  components: sorted(components),
};
console.log(JSON.stringify(cut, null, 1));
