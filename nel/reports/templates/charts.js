"use strict";
// Draws the charts of a page with uPlot, in the colours of the page, and again when these change. Arrow keys move the cursor.
(() => {
  const colour = (name) => () => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
  const PALETTE = ["#3f84c4", "#d1762f", "#3a9a68", "#a868c0", "#c9a227", "#c95a7b", "#4aa5a5", "#8a8f98"];
  const HEIGHT = 150;
  const axis = (options) => ({ stroke: colour("--muted"), font: "11px system-ui, sans-serif", grid: { stroke: colour("--line"), width: 1 },
    ticks: { stroke: colour("--line"), width: 1, size: 4 }, ...options });
  const written = (value, unit) => (value === null || value === undefined ? "–" : `${compact.format(value)}${unit ? ` ${unit}` : ""}`);

  // A distribution: columns between edges that grow by one factor.
  const columns = ({ edges, counts, unit }) => {
    const starts = edges.slice(0, -1);
    const [low, high] = [edges[0], edges[starts.length]];
    const powers = Array.from({ length: 40 }, (_, power) => 10 ** (power - 12));
    const marks = powers.flatMap((power) => [power, 2 * power, 5 * power]).filter((mark) => low <= mark && mark <= high);
    return {
      data: [starts, counts],
      scales: { x: { time: false, distr: 3, range: [low, high] }, y: { range: (_, __, top) => [0, top] } },
      axes: [axis({ size: 26, splits: () => (marks.length > 1 ? marks : [low, high]), filter: (_, all) => all, values: (_, all) => all.map((mark) => written(mark)) }),
        axis({ size: 44, values: (_, marks) => marks.map((mark) => written(mark)) })],
      series: [
        { label: "between", value: (_, value) => (value === null ? "–" : `${written(value)} and ${written(edges[starts.indexOf(value) + 1], unit)}`) },
        { label: "answers", fill: colour("--scored"), stroke: colour("--scored"), width: 0, points: { show: false },
          paths: uPlot.paths.bars({ size: [0.9, Infinity], align: 1 }) },
      ],
    };
  };

  // Runs as points: what an answer takes against the score, and a line through those that no other run beats in both.
  const points = ({ names, x, y, best, title, unit }) => {
    const order = x.map((_, place) => place).sort((one, other) => x[one] - x[other]);
    const pick = (wanted) => order.map((place) => (wanted(place) ? y[place] : null));
    const percent = (_, value) => (value === null ? "–" : `${(100 * value).toFixed(1)} %`);
    const [low, high] = [Math.min(...x), Math.max(...x)];
    const space = (high - low || high || 1) * 0.1;
    return {
      data: [order.map((place) => x[place]), pick((place) => best[place]), ...names.map((_, place) => pick((other) => other === place))],
      scales: { x: { time: false, range: [Math.max(0, low - space), high + space] } },
      axes: [axis({ size: 42, label: title, labelSize: 16, labelFont: "11px system-ui, sans-serif", values: (_, marks) => marks.map((mark) => written(mark, unit)) }),
        axis({ size: 50, values: (_, marks) => marks.map((mark) => `${+(100 * mark).toFixed(2)} %`) })],
      series: [
        { label: title, value: (_, value) => written(value, unit) },
        { label: "no run is better in both", stroke: colour("--muted"), dash: [4, 4], spanGaps: true, points: { show: false }, value: percent },
        ...names.map((name, place) => ({ label: name, stroke: PALETTE[place % PALETTE.length], paths: () => null, value: percent,
          points: { show: true, size: 10, fill: PALETTE[place % PALETTE.length] } })),
      ],
    };
  };

  const drawn = [];
  for (const box of document.querySelectorAll("[data-chart]")) {
    const { kind, ...content } = JSON.parse(box.dataset.chart);
    const { data, ...options } = (kind === "points" ? points : columns)(content);
    box.classList.add(kind);
    const height = kind === "points" ? 260 : HEIGHT;
    const chart = new uPlot({ width: box.clientWidth || 300, height, cursor: { drag: { x: false, y: false }, y: false }, ...options }, data, box);
    drawn.push(chart);
    new ResizeObserver(() => { if (box.clientWidth) chart.setSize({ width: box.clientWidth, height }); }).observe(box);
    box.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      const place = Math.max(0, Math.min((chart.cursor.idx ?? -1) + by, data[0].length - 1));
      chart.setCursor({ left: chart.valToPos(data[0][place], "x"), top: 0 });
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { for (const chart of drawn) chart.redraw(); });
})();
