// Looks at pages of `kubectl dra report` in Chromium: report.js BROWSER PAGE…
//
// Of every page: nothing is loaded and no error is logged, axe-core finds no violation, light and dark, the keyboard reaches everything that can
// be operated, and filters are in the address. SHOTS names a directory for pictures, LOAD_MS the time in which a page must be there.
"use strict";
const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { basename } = require("node:path");
const { pathToFileURL } = require("node:url");
const puppeteer = require("puppeteer-core");

const [browserPath, ...files] = process.argv.slice(2);
const shots = process.env.SHOTS;
const limit = Number(process.env.LOAD_MS ?? 0);
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** Entries that are shown, and all of them. */
const entries = (page) => page.evaluate(() => {
  const all = [...document.querySelectorAll("main .entry, main tbody tr")];
  return { shown: all.filter((entry) => entry.checkVisibility()).length, all: all.length };
});

/** A fresh page with this address, and what went wrong on it. */
async function open(browser, url, scheme) {
  const page = await browser.newPage();
  const wrong = [];
  page.on("console", (message) => wrong.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { if (request.url().split("#")[0] !== url.split("#")[0]) wrong.push(`request: ${request.url()}`); });
  await page.setViewport({ width: 1280, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  const begin = performance.now();
  await page.goto(url, { waitUntil: "load" });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const milliseconds = Math.round(performance.now() - begin);
  const { TaskDuration } = await page.metrics();
  return { page, wrong, milliseconds, work: Math.round(TaskDuration * 1000) };
}

async function contrastAndMarkup(page, name) {
  // The page's policy allows no script but its own, so this one is put in by the debugger. Of a large page the first entries of each kind do.
  await page.evaluate(() => {
    for (const body of document.querySelectorAll("tbody")) [...body.rows].slice(20).forEach((row) => row.remove());
    for (const section of document.querySelectorAll("main section")) [...section.querySelectorAll(":scope > .entry")].slice(40).forEach((entry) => entry.remove());
  });
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html).join(" | ")}`);
  assert.deepEqual(found, [], `${name}: axe-core`);
}

/** What the Tab key reaches, in order, until it comes back to the beginning. */
async function keyboard(page, name) {
  const wanted = await page.evaluate(() => document.querySelectorAll("input, select, a[href], [tabindex='0']").length);
  const reached = new Set();
  for (let step = 0; step < wanted + 2; step += 1) {
    await page.keyboard.press("Tab");
    const place = await page.evaluate(() => {
      const focused = document.activeElement;
      const seen = focused !== document.body && getComputedStyle(focused).outlineStyle !== "none";
      return seen ? [...document.querySelectorAll("*")].indexOf(focused) : -1;
    });
    if (place >= 0) reached.add(place);
  }
  assert.equal(reached.size, wanted, `${name}: reached with the Tab key, with an outline`);
}

async function filters(browser, page, url, name) {
  const before = await entries(page);
  assert.equal(before.shown, before.all, `${name}: without a filter`);
  // A word of the page that not every entry has.
  const word = await page.evaluate(() => {
    const texts = [...document.querySelectorAll("main .entry, main tbody tr")].map((entry) => entry.textContent.toLowerCase());
    const words = new Set(texts.join(" ").split(/\s+/).filter((word) => word.length > 4));
    return [...words].find((word) => { const count = texts.filter((text) => text.includes(word)).length; return count > 0 && count < texts.length; });
  });
  await page.focus("#q");
  await page.keyboard.type(word);
  const after = await entries(page);
  assert.ok(after.shown > 0 && after.shown < before.all, `${name}: ${word}: ${after.shown} of ${before.all}`);
  assert.ok((await page.$eval("#count", (count) => count.textContent)).startsWith(`${after.shown} of ${before.all} `), name);
  const link = page.url();
  assert.ok(link.includes("#q="), link);
  const again = await open(browser, link, "light");
  assert.deepEqual(await entries(again.page), after, `${name}: the address shows the same view`);
  assert.equal(await again.page.$eval("#q", (q) => q.value), word, name);
  assert.deepEqual(again.wrong, [], name);
  await again.page.close();
  // A node within a range of nodes that look the same.
  const range = await page.evaluate(() => {
    const rows = [...document.querySelectorAll("main tbody tr")];
    const matches = rows.map((row) => [row, /([\w-]+?)(\d+)…(\d+)/.exec(row.cells[0].textContent)]).find(([, match]) => match);
    if (!matches) return null;
    matches[0].id = "range";
    return `${matches[1][1]}${Number(matches[1][2]) + 1}`;
  });
  if (range) {
    await page.$eval("#q", (q, value) => { q.value = value; q.dispatchEvent(new Event("input")); }, range);
    assert.equal(await page.$eval("#range", (row) => row.hidden), false, `${name}: ${range}`);
    assert.ok((await entries(page)).shown < before.all, `${name}: ${range}`);
    await page.$eval("#q", (q, value) => { q.value = value; q.dispatchEvent(new Event("input")); }, word);
  }
  // A section, with the keyboard, keeps the words.
  const links = await page.$$("nav a");
  if (links.length > 1) {
    await links[2].focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash.includes("s="));
    assert.ok(page.url().includes("q="), page.url());
    const sections = await page.$$eval("main > section", (all) => all.filter((section) => section.checkVisibility()).length);
    assert.ok(sections <= 1, `${name}: ${sections} sections`);
    const ofSection = await page.evaluate(() => {
      const all = [...document.getElementById(location.hash.slice(1).split("&").find((part) => part.startsWith("s="))).querySelectorAll(".entry, tbody tr")];
      return `${all.filter((entry) => !entry.hidden).length} of ${all.length} entries`;
    });
    assert.equal(await page.$eval("#count", (count) => count.textContent), ofSection, name);
    assert.equal(await page.$$eval("nav a[aria-current]", (current) => current.length), 1, name);
  }
  // Errors only.
  await page.goto(`${url}#level=2`);
  await page.reload();
  const bad = await page.evaluate(() => [...document.querySelectorAll("main .entry, main tbody tr")]
    .every((entry) => entry.hidden === !entry.querySelector(".bad")));
  assert.ok(bad, `${name}: level=2`);
  // Nothing in the address is markup.
  await page.goto(`${url}#q=${encodeURIComponent("<img src=x onerror=alert(1)>")}&s="><script>`);
  await page.reload();
  assert.equal((await entries(page)).shown, 0, name);
}

/** The tables of a page with several sections, and of one section, as they are printed. */
async function printed(browser, url, name) {
  const most = async (fragment) => {
    const { page } = await open(browser, `${url}${fragment}`, "light");
    await page.emulateMediaType("print");
    const [shown, all] = await page.evaluate(() => {
      const bodies = [...document.querySelectorAll("tbody")].filter((body) => body.checkVisibility());
      const lengths = (fits) => Math.max(0, ...bodies.map((body) => [...body.rows].filter(fits).length));
      return [lengths((row) => row.checkVisibility()), lengths(() => true)];
    });
    await page.close();
    return [shown, all];
  };
  const [shown, all] = await most("");
  assert.equal(shown, Math.min(all, 15), `${name}: printed`);
  const [claims, allClaims] = await most("#s=claims");
  assert.equal(claims, allClaims, `${name}: claims printed`);
}

async function main() {
  const browser = await puppeteer.launch({
    executablePath: browserPath,
    args: ["--no-sandbox", "--disable-gpu", "--hide-scrollbars"],
  });
  try {
    for (const file of files) {
      const [url, name] = [pathToFileURL(file).href, basename(file, ".html")];
      const first = await open(browser, url, "light");
      const all = (await entries(first.page)).all;
      console.log(`${name}: ${readFileSync(file).length} bytes, ${all} entries, loaded in ${first.milliseconds} ms, ${first.work} ms of work`);
      if (limit > 0) assert.ok(first.milliseconds <= limit, `${name}: ${first.milliseconds} ms`);
      if (shots) {
        await first.page.screenshot({ path: `${shots}/${name}-light.png` });
        const map = await open(browser, `${url}#s=devices`, "light");
        await map.page.screenshot({ path: `${shots}/${name}-devices.png` });
        await map.page.close();
      }
      if (shots && all < 1000) {
        await first.page.screenshot({ path: `${shots}/${name}-light-full.png`, clip: { x: 0, y: 0, width: 1280, height: 4000 }, captureBeyondViewport: true });
        await first.page.pdf({ path: `${shots}/${name}.pdf`, format: "A4", pageRanges: "1-4", margin: { top: "1.5cm", bottom: "1.5cm", left: "1.5cm", right: "1.5cm" }, timeout: 600_000 });
      }
      await keyboard(first.page, name);
      await filters(browser, first.page, url, name);
      if (await first.page.$("nav")) await printed(browser, url, name);
      assert.deepEqual(first.wrong, [], name);
      await first.page.close();
      for (const scheme of ["light", "dark"]) {
        const { page, wrong } = await open(browser, url, scheme);
        if (shots && scheme === "dark") await page.screenshot({ path: `${shots}/${name}-dark.png` });
        await contrastAndMarkup(page, `${name}, ${scheme}`);
        assert.deepEqual(wrong, [], name);
        await page.close();
      }
      console.log(`${name}: axe-core ${require("axe-core/package.json").version}: no violation, light and dark`);
    }
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
