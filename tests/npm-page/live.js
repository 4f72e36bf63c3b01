// node live.js URL GO: looks at a run in progress through the page of `iterate
// page --serve`, lets its agent end by writing the file GO, waits until the page has
// the new iteration without being loaded again.
// It prints what is wrong as a JSON list of sentences.
import { writeFileSync } from "node:fs";
import { chromium } from "playwright-core";

const [url, go] = process.argv.slice(2);
const problems = [];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") problems.push(`console: ${m.text()}`); });
page.on("pageerror", (e) => problems.push(e.message));
page.on("request", (r) => { if (!r.url().startsWith(url) && !/^(data|blob):/.test(r.url())) problems.push(`asks for ${r.url()}`); });
const see = async (what, test) => {
  try {
    await page.waitForFunction(test, null, { timeout: 300000 });
  } catch {
    problems.push(`${what} is not seen; the page says ${JSON.stringify(await page.evaluate(() => document.querySelector("#live").innerText))}`);
  }
};
// Every renewal takes a while to be read: what a person does meanwhile must stay too.
await page.addInitScript(() => {
  const read = Response.prototype.json;
  Response.prototype.json = async function () {
    await new Promise((done) => { setTimeout(done, 300); });
    return read.call(this);
  };
});
await page.goto(`${url}#program-p`);
await page.evaluate(() => { window.loadedOnce = true; });
await see("the agent at work", () => /p #1 propose/.test(document.querySelector("#live p").textContent));
writeFileSync(go, "");
const ready = () => document.documentElement.dataset.ready === "yes";
await see("a page that is ready", ready);
await see("the first iteration", () => window.loadedOnce && document.querySelectorAll("#program-p .iteration").length >= 1);
// many waits until several renewals have passed.
const renewals = async (many) => {
  for (let i = 0; i < many; i++) {
    await page.evaluate(() => { window.before = document.querySelectorAll("#program-p .iteration").length; });
    await see("a renewal", () => document.querySelectorAll("#program-p .iteration").length > window.before);
  }
};
await page.evaluate(() => {
  const section = document.getElementById("program-p");
  const filter = section.querySelector(".rows-filter");
  filter.value = "1 kept 2 (";
  filter.dispatchEvent(new Event("input"));
  filter.focus();
  filter.setSelectionRange(1, 3);
  section.querySelector(".iteration:not([hidden])").open = true;
});
await renewals(3);
const kept = await page.evaluate(() => {
  const section = document.getElementById("program-p");
  const filter = section.querySelector(".rows-filter");
  return [filter.value, section.querySelector("details[open] summary .n")?.textContent, document.activeElement === filter, filter.selectionStart, filter.selectionEnd].join("|");
});
if (kept !== "1 kept 2 (|1|true|1|3") problems.push(`the filter, what was opened and the cursor do not stay when the page is renewed: ${kept}`);
// An iteration that has the focus keeps it although newer ones come in.
await page.evaluate(() => {
  const filter = document.querySelector("#program-p .rows-filter");
  filter.value = "";
  filter.dispatchEvent(new Event("input"));
});
const top = await page.evaluate(() => {
  const summary = document.querySelector("#program-p .iteration summary");
  summary.focus();
  return summary.querySelector(".n").textContent;
});
await renewals(3);
const now = await page.evaluate(() => document.activeElement.querySelector(".n")?.textContent);
if (now !== top) problems.push(`the focus does not stay when the page is renewed: ${now} instead of ${top}`);
// The overview stays in the order that was asked for.
await page.evaluate(() => { location.hash = "#overview"; });
await see("the overview", () => document.querySelector(".programs")?.checkVisibility());
await page.click(".programs thead th:first-child button");
await page.click(".programs thead th:first-child button");
await renewals(2);
const sorted = await page.evaluate(() => {
  const head = document.querySelector(".programs thead th");
  return [head.getAttribute("aria-sort"), document.activeElement === head.querySelector("button")].join("|");
});
if (sorted !== "descending|true") problems.push(`the order of the overview does not stay when the page is renewed: ${sorted}`);
await browser.close();
console.log(JSON.stringify(problems));
