// node check.js DIR: drives Chromium through the pages of DIR and prints what is
// wrong as a JSON list of sentences. DIR/wanted.json says what the pages hold.
// The pictures of golden/ are what pages looked like when a person looked at them;
// GOLDEN=write takes them anew.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import pixelmatch from "pixelmatch";
import { chromium } from "playwright-core";
import { PNG } from "pngjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const dir = process.argv[2];
const wanted = JSON.parse(readFileSync(join(dir, "wanted.json"), "utf8"));
const problems = [];
const at = (file, anchor = "") => pathToFileURL(join(dir, file)).href + anchor;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

// One window with scripts and one without show page after page: no page keeps
// anything for the next, and every window takes processes to start.
const windows = {};

async function open({ viewport, colorScheme = "light", reducedMotion = "no-preference", javaScriptEnabled = true }, file, anchor) {
  const window = windows[javaScriptEnabled] ??= await newWindow(javaScriptEnabled);
  const { page } = window;
  await page.goto("about:blank"); // the same page at another anchor is loaded anew
  window.file = file;
  await page.setViewportSize(viewport);
  await page.emulateMedia({ media: "screen", colorScheme, reducedMotion });
  await page.goto(at(file, anchor));
  if (javaScriptEnabled && await page.evaluate(() => document.querySelector("main.scripted, body > script") !== null)) {
    await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
  }
  return page;
}

async function newWindow(javaScriptEnabled) {
  const page = await (await browser.newContext({ javaScriptEnabled })).newPage();
  const window = { page, file: "" };
  page.setDefaultTimeout(120000); // other tests run beside it
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") problems.push(`${window.file}: console: ${m.text()}`); });
  page.on("pageerror", (e) => problems.push(`${window.file}: ${e.message}`));
  page.on("request", (r) => { if (!/^(file|data|blob|about):/.test(r.url())) problems.push(`${window.file}: asks for ${r.url()}`); });
  return window;
}

// Every page at two widths, light and dark: nothing wider than the window. A page is
// loaded for each width, whose drawings depend on it. Nothing that axe finds, at each
// width and in each theme once: light where it is narrow and dark where it is wide, in
// every other page the other way round. They share one style sheet.
let turned = false;
for (const [file, anchors] of Object.entries(wanted.pages ?? {})) {
  for (const anchor of anchors) {
    turned = !turned;
    for (const width of [360, 1600]) {
      const page = await open({ viewport: { width, height: 900 } }, file, anchor);
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        const name = `${file}${anchor} at ${width} px, ${colorScheme}`;
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        const views = await page.evaluate(() => [...document.querySelectorAll(".view")].filter((view) => view.checkVisibility()).map((view) => view.id));
        if (views.length !== 1) problems.push(`${name}: ${views.length} views are shown: ${views}`);
        if (overflow > 0) problems.push(`${name}: ${overflow} px wider than the window`);
        if (process.env.SCREENSHOTS) {
          await page.screenshot({ path: join(process.env.SCREENSHOTS, `${file}${anchor}-${width}-${colorScheme}.png`.replaceAll("#", "-")) });
        }
        if ((width === 360) !== ((colorScheme === "light") === turned)) continue;
        // Run in the page's world by the debugger, which the page's policy does not bind.
        await page.evaluate(axe);
        const found = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ["violations"] })).violations
          .map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(" | ")}`));
        for (const text of found) problems.push(`${name}: ${text}`);
      }
    }
  }
}

// By keyboard alone: overview, program, iteration, change.
for (const walk of wanted.walks ?? []) {
  const page = await open({ viewport: { width: 1200, height: 900 } }, walk.file, "");
  const focus = async (what, test) => {
    for (let i = 0; i < 200; i++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(test)) return true;
    }
    problems.push(`${walk.file}: ${what} is not reached by Tab`);
    return false;
  };
  if (await focus("a program", () => document.activeElement.closest(".programs tbody") !== null)) {
    await page.keyboard.press("Enter");
    await page.waitForSelector(".program.shown, .view.program:only-of-type");
    if (await focus("the chart", () => document.activeElement.classList.contains("walk"))) {
      await page.keyboard.press("Home");
      await page.keyboard.press("Enter");
      const opened = await page.evaluate(() => document.querySelector("details[open] .detail")?.id ?? "");
      if (!opened.endsWith("-i" + walk.first)) problems.push(`${walk.file}: Enter on the first point opens ${opened || "nothing"}`);
      const change = await page.evaluate(() => document.querySelector("details[open] .diff .add")?.innerText ?? "");
      if (!change.includes(walk.change)) problems.push(`${walk.file}: the change shows ${JSON.stringify(change)}`);
    }
  }
}

// All iterations are in the page, with scripts and without.
for (const want of wanted.programs ?? []) {
  for (const javaScriptEnabled of [true, false]) {
    const page = await open({ javaScriptEnabled, viewport: { width: 1200, height: 900 } }, want.file, "#" + want.id);
    const iterations = await page.locator(`#${want.id} .iteration summary .n`).count();
    if (iterations !== want.iterations) problems.push(`${want.id}: ${iterations} iterations instead of ${want.iterations}`);
    if (!await page.locator(`#${want.id} h1`).isVisible()) problems.push(`${want.id}: nothing is seen, scripts: ${javaScriptEnabled}`);
  }
}

// What only a script gives: order, filters and the chart's tip. Then on
// paper, with scripts and without.
if (wanted.tools) {
  const { file, id, order, sorted, filter, kept } = wanted.tools;
  const page = await open({ viewport: { width: 1200, height: 900 } }, file, "");
  const same = (what, got, want) => {
    if (JSON.stringify(got) !== JSON.stringify(want)) problems.push(`${file}: ${what}: ${JSON.stringify(got)} instead of ${JSON.stringify(want)}`);
  };
  const programs = () => page.locator(".programs tbody tr:visible th").allTextContents();
  same("what needs a person comes first", await programs(), order);
  for (const [column, names] of Object.entries(sorted)) {
    const button = page.locator(".programs thead button", { hasText: column });
    await button.click();
    same(`by ${column}`, await programs(), names);
    await button.click();
    same(`by ${column}, the other way round`, await programs(), names.toReversed());
  }
  await page.fill("#filter", filter);
  same("filtered", await programs(), [filter]);

  await page.goto(at(file, "#" + id));
  const section = page.locator("#" + id);
  const iterations = () => section.locator(".iteration:visible summary .n").allTextContents();
  await section.locator(".rows-outcome").selectOption("kept");
  same("kept", await iterations(), kept);
  await section.locator(".rows-outcome").selectOption("");
  await section.locator(".rows-filter").fill("the word of seven");
  same("with a word", await iterations(), ["7"]);
  await section.locator(".rows-filter").fill("");

  await section.locator("svg.trajectory").scrollIntoViewIfNeeded();
  const box = await section.locator("svg.trajectory").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const tip = await section.locator(".tip").textContent();
  const tipped = /^iteration (\d+), /.exec(tip)?.[1];
  if (!tipped || !await section.locator(".tip").isVisible()) problems.push(`${file}: the tip over the chart says ${JSON.stringify(tip)}`);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  same("a click opens what the tip says", await section.locator("details[open] summary .n").allTextContents(), [tipped]);

  await page.emulateMedia({ media: "print" });
  same("tools on paper", await page.locator(".tools:visible").count(), 0);
  const plain = await open({ javaScriptEnabled: false, viewport: { width: 1200, height: 900 } }, file, "");
  await plain.emulateMedia({ media: "print" });
  same("views on paper without scripts", await plain.locator(".view:visible").count(), 1 + order.length);
}

// What pages look like: at most one of a hundred points may differ from the picture
// that was looked at. Fonts are drawn a little differently on every machine.
for (const picture of wanted.pictures ?? []) {
  const page = await open({ viewport: { width: picture.width, height: 900 }, colorScheme: picture.scheme, reducedMotion: "reduce" }, picture.file, picture.anchor);
  const options = { animations: "disabled", caret: "hide" };
  const taken = PNG.sync.read(await page.screenshot(options));
  const file = join("golden", picture.name + ".png");
  if (process.env.GOLDEN === "write") {
    writeFileSync(file, PNG.sync.write(taken));
    continue;
  }
  if (!existsSync(file)) {
    problems.push(`${file} is missing: look at the page, then take it with GOLDEN=write`);
    continue;
  }
  const golden = PNG.sync.read(readFileSync(file));
  if (golden.width !== taken.width || golden.height !== taken.height) {
    problems.push(`${file}: ${golden.width} by ${golden.height} points, and now ${taken.width} by ${taken.height}`);
    continue;
  }
  const different = pixelmatch(golden.data, taken.data, null, golden.width, golden.height, { threshold: 0.2 });
  const share = different / (golden.width * golden.height);
  if (share > 0.01) {
    writeFileSync(join(dir, picture.name + ".png"), PNG.sync.write(taken));
    problems.push(`${file}: ${(100 * share).toFixed(1)} % of it is different now, see ${join(dir, picture.name + ".png")}`);
  }
}

// How long until a large page can be used, beside the page in which nothing is, since a machine may be busy.
if (wanted.large) {
  const opened = async (file) => {
    const began = performance.now();
    await open({ viewport: { width: 1200, height: 900 } }, file, "");
    return Math.round(performance.now() - began);
  };
  const [empty, took] = [await opened(wanted.empty), await opened(wanted.large)];
  console.error(`${wanted.large}: interactive after ${took} ms, and ${wanted.empty} after ${empty} ms`);
  if (took > Math.max(5000, 20 * empty)) problems.push(`${wanted.large}: opens in ${took} ms`);
}
await browser.close();
console.log(JSON.stringify(problems));
