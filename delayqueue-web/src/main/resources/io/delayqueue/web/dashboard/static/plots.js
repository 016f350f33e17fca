// Draws the plots. A view renders a canvas with its data; after each rendering of the page,
// missing charts are created and the others are updated.

import { html } from './lib/lit-html.js';

const charts = new Map();

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/**
 * Renders a plot, with its numbers as text for screen readers.
 * what: { title, kind: 'line' or 'bar', labels, series: [{ label, data }], unit(number), whole,
 * ticks: which labels to show, if not all that fit, bands: [{ first, last, kind }], 'outage' or 'gap' }
 */
export function plotOf(key, what) {
  const summary = what.series.map((one) => `${one.label} ${what.unit((what.ticks ? one.data.findLast((value) => value !== null) : one.data.at(-1)) ?? null)}`).join(', ');
  return html`<figure class="plot">
    <figcaption title=${what.title}>${what.title}</figcaption>
    <div class="canvas"><canvas data-plot=${key} .plot=${what} role="img" aria-label=${what.kind === 'bar'
    ? `${what.title}: ${what.labels.map((label, index) => `${label} ${what.unit(what.series[0].data[index])}`).join(', ')}`
    : `${what.title}. Now: ${summary}`}></canvas></div>
  </figure>`;
}

/** Renders plots beside each other. On phones they scroll, so that the keyboard can reach them. */
export function strip(plots) {
  return html`<div class="plots" tabindex="0" role="group" aria-label="Plots">${plots}</div>`;
}

export function plot() {
  const there = new Set(document.querySelectorAll('canvas[data-plot]'));
  for (const [canvas, chart] of charts) {
    if (!there.has(canvas)) {
      chart.destroy();
      charts.delete(canvas);
    }
  }
  for (const canvas of there) {
    const chart = charts.get(canvas);
    if (!chart) {
      charts.set(canvas, make(canvas));
    }
    else if (chart.shown !== stamp(canvas.plot)) {
      move(chart, canvas.plot);
    }
  }
}

/** Discards all charts, because their content or colours have changed. */
export function forgetPlots() {
  charts.forEach((chart) => chart.destroy());
  charts.clear();
}

function stamp(what) {
  return JSON.stringify([what.labels, what.bands, what.series.map((one) => one.data)]);
}

function data(what) {
  return {
    labels: what.labels,
    datasets: what.series.map((one, index) => ({
      label: one.label,
      data: one.data,
      borderColor: colour(`plot-${index + 1}`),
      backgroundColor: what.kind === 'bar' ? one.data.map((value, at) => colour(at === what.marked ? 'plot-4' : `plot-${index + 1}`)) : 'transparent',
      borderDash: [[], [6, 3], [2, 2], [8, 3, 2, 3]][index],
      borderWidth: what.kind === 'bar' ? 0 : 2,
      pointRadius: 0,
      spanGaps: false,
      maxBarThickness: 48,
    })),
  };
}

/** Draws spans of time behind the lines: outages filled, gaps with a pattern. */
const BANDS = {
  id: 'bands',
  beforeDatasetsDraw({ canvas, ctx, chartArea: { top, bottom, left, right }, scales: { x } }) {
    const half = (x.getPixelForValue(1) - x.getPixelForValue(0)) / 2;
    canvas.plot.bands.forEach(({ first, last, kind }) => {
      const from = Math.max(left, x.getPixelForValue(first) - half);
      const until = Math.max(from + 2, Math.min(right, x.getPixelForValue(last) + half));
      ctx.save();
      ctx.beginPath();
      ctx.rect(from, top, until - from, bottom - top);
      ctx.clip();
      if (kind === 'outage') {
        ctx.fillStyle = colour('error-ground');
        ctx.fillRect(from, top, until - from, bottom - top);
        ctx.fillStyle = colour('danger');
        ctx.fillRect(from, top, until - from, 2);
      }
      else {
        ctx.globalAlpha = .45;
        ctx.strokeStyle = colour('edge');
        for (let at = from - (bottom - top); at < until; at += 6) {
          ctx.moveTo(at, bottom);
          ctx.lineTo(at + bottom - top, top);
        }
        ctx.stroke();
      }
      ctx.restore();
    });
  },
};

function make(canvas) {
  const what = canvas.plot;
  const grid = { color: colour('line') };
  const ticks = { color: colour('soft'), maxTicksLimit: 6, maxRotation: 0 };
  globalThis.Chart.defaults.font.size = 11;
  globalThis.Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  const chart = new globalThis.Chart(canvas, {
    type: what.kind,
    data: data(what),
    plugins: what.ticks ? [BANDS] : [],
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      interaction: { mode: 'index', intersect: false },
      scales: {
        x: { grid: { display: false }, ticks: what.ticks ? { ...ticks, autoSkip: false, callback: (value, index) => canvas.plot.ticks[index] ? canvas.plot.labels[index] : null }
          : { ...ticks, autoSkip: what.kind === 'line' || what.labels.length > 12 } },
        y: { beginAtZero: true, suggestedMax: 1, grid, ticks: { ...ticks, maxTicksLimit: 5, precision: what.whole ? 0 : undefined, callback: (value) => what.unit(value) } },
      },
      plugins: {
        legend: { display: what.series.length > 1, labels: { color: colour('text'), boxHeight: 1, boxWidth: 12, padding: 6 } },
        tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${what.unit(item.parsed.y)}` } },
      },
    },
  });
  chart.shown = stamp(what);
  return chart;
}

function move(chart, what) {
  chart.data.labels = what.labels;
  what.series.forEach((one, index) => {
    chart.data.datasets[index].data = one.data;
    chart.data.datasets[index].backgroundColor = data(what).datasets[index].backgroundColor;
  });
  chart.shown = stamp(what);
  chart.update();
}
