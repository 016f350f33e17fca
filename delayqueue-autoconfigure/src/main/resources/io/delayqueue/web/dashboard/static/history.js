// What the plots show: what this page has seen since it was opened, of the last minutes.

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

/** Throughput and lateness on the nodes that have answered. */
export function flowPlots(entries = state.history) {
  return [
    linePlot('throughput', 'Handlers begun, per second', [['Begun', (entry) => entry.flow?.rate]], rate, entries),
    linePlot('lateness', 'How late they began, over a minute', [
      ['50 %', (entry) => entry.flow?.p50], ['95 %', (entry) => entry.flow?.p95], ['99 %', (entry) => entry.flow?.p99]],
    late, entries),
  ];
}

/** Whose the numbers of those plots are. */
export function flowNote(entries = state.history) {
  const nodes = entries.at(-1)?.flow?.nodes ?? 1;
  const since = entries === state.history ? 'Plots go back to when the page was opened'
    : 'Their plots go back to when this view was opened, the others to when the page was';
  return html`<p class="note">Handlers begun and their lateness are counted ${nodes === 1 ? 'on the node that answers this page'
    : `on the ${plural(nodes, 'node')} that answer this page`}. ${since}, for five minutes at most.</p>`;
}
