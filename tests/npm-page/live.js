// node live.js URL GO: looks at a run in progress through the page of `iterate
// --watch`, lets its agent end by writing the file GO, waits until the page has
// the new iteration without being loaded again, and presses the stop button.
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
    await page.waitForFunction(test, null, { timeout: 60000 });
  } catch {
    problems.push(`${what} is not seen; the page says ${JSON.stringify(await page.evaluate(() => document.querySelector("#live").innerText))}`);
  }
};
await page.goto(url);
await page.evaluate(() => { window.loadedOnce = true; });
await see("the agent at work", () => /p #1 propose/.test(document.querySelector("#live p").textContent));
writeFileSync(go, "");
await see("the first iteration", () => window.loadedOnce && document.querySelectorAll("#program-p .iteration").length >= 1);
await page.evaluate(() => {
  const section = document.getElementById("program-p");
  const filter = section.querySelector(".rows-filter");
  filter.value = "1 kept 2 (";
  filter.dispatchEvent(new Event("input"));
  section.querySelector(".iteration").open = true;
  window.before = section;
});
await see("that what was opened stays so when the page is renewed", () => {
  const section = document.getElementById("program-p");
  return section !== window.before && document.documentElement.dataset.ready === "yes" && section.querySelector(".rows-filter").value === "1 kept 2 (" && section.querySelector("details[open] summary .n")?.textContent === "1";
});
await see("a button", () => !document.querySelector("#live .stop").disabled);
await page.click("#live .stop");
await see("that it stops", () => /stops after this iteration/.test(document.querySelector("#live .stop").textContent));
await browser.close();
console.log(JSON.stringify(problems));
