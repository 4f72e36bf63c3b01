// node pictures.js PAGE TEXT OUT: the pictures of the README. PAGE is the page of
// a demo, TEXT what the demo printed; OUT/page-light.png and the like are written.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [file, text, out] = process.argv.slice(2);
const escape = (s) => s.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const printed = escape(readFileSync(text, "utf8").trimEnd())
  .replace(/^( +)(\+.*)$/gm, "$1<ins>$2</ins>").replace(/^( +)(-.*)$/gm, "$1<del>$2</del>");
const terminal = `<!doctype html><html lang="en"><meta charset="utf-8"><style>
  :root { color-scheme: light dark; --page: #f6f8fa; --text: #1b1f24; --add: #116329; --del: #b3261e }
  @media (prefers-color-scheme: dark) { :root { --page: #161b22; --text: #e6edf3; --add: #56d364; --del: #ff8580 } }
  body { margin: 0; background: var(--page); color: var(--text); width: max-content }
  pre { margin: 0; padding: 20px 24px; font: 14px/1.4 "DejaVu Sans Mono", monospace }
  ins { color: var(--add); text-decoration: none } del { color: var(--del); text-decoration: none }
</style><pre><b>$ iterate demo</b>\n${printed}</pre></html>`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
for (const colorScheme of ["light", "dark"]) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 720 }, deviceScaleFactor: 1.5, colorScheme });
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href + "#program-round");
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
  await page.screenshot({ path: join(out, `page-${colorScheme}.png`) });
  const screen = await context.newPage(); // The page's policy would keep the style out.
  await screen.setContent(terminal);
  await screen.locator("pre").screenshot({ path: join(out, `terminal-${colorScheme}.png`) });
  await context.close();
}
await browser.close();
