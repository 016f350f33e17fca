// Builds the plots from the responses since the page was opened, at most the last five minutes.

import { html } from './lib/lit-html.js';
import { count, duration, plural } from './format.js';
import { state } from './store.js';
import { plotOf } from './plots.js';

const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });

export function linePlot(key, title, series, unit, entries = state.history) {
  return plotOf(key, {
    title,
    kind: 'line',
    labels: entries.map((entry) => clock.format(entry.at)),
    series: series.map(([label, value]) => ({ label, data: entries.map((entry) => value(entry) ?? null) })),
    unit,
    whole: unit === count,
  });
}

function rate(number) {
  return number === null || number === undefined ? '–' : `${number < 10 ? Math.round(number * 10) / 10 : count(Math.round(number))}/s`;
}

function late(millis) {
  return millis > 0 && millis < 10 ? `${Math.round(millis * 10) / 10} ms` : duration(millis);
}

/** Plots throughput and lateness of the nodes that have responded. */
export function throughputPlots(entries = state.history) {
  return [
    linePlot('throughput', 'Handlers started per second', [['Started', (entry) => entry.throughput?.rate]], rate, entries),
    linePlot('lateness', 'Lateness, over a minute', [
      ['50 %', (entry) => entry.throughput?.p50], ['95 %', (entry) => entry.throughput?.p95], ['99 %', (entry) => entry.throughput?.p99]],
    late, entries),
  ];
}

/** Explains which nodes the numbers come from. */
export function throughputNote(entries = state.history) {
  const nodes = entries.at(-1)?.throughput?.nodes ?? 1;
  const since = entries === state.history ? 'The plots begin when the page was opened'
    : 'Their plots begin when this view was opened, the others when the page was opened';
  return html`<p class="note">Handler starts and their lateness come from ${nodes === 1 ? 'the node that serves this page'
    : `the ${plural(nodes, 'node')} that serve this page`}. ${since}, and cover five minutes at most.</p>`;
}
