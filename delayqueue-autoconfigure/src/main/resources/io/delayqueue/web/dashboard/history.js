// What the plots show: what this page has seen since it was opened.

import { nothing } from './lib/lit-html.js';
import { count, duration } from './format.js';
import { state } from './store.js';
import { plotOf } from './plots.js';

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

export function linePlot(key, title, series, unit) {
  return plotOf(key, {
    title,
    kind: 'line',
    labels: state.history.map((entry) => clock.format(entry.at)),
    series: series.map(([label, value]) => ({ label, data: state.history.map((entry) => value(entry) ?? null) })),
    unit,
  });
}

function rate(number) {
  return number === null ? '–' : `${number < 10 ? Math.round(number * 10) / 10 : count(Math.round(number))}/s`;
}

/** Throughput and lateness of the node that answers; nothing if that one measures none. */
export function flowPlots() {
  if (!state.overview?.flow) {
    return nothing;
  }
  const handled = state.history.map((entry, index) => perSecond(entry, state.history[index - 1]));
  return [
    plotOf('throughput', {
      title: 'Handled by the node that answers',
      kind: 'line',
      labels: state.history.map((entry) => clock.format(entry.at)),
      series: [{ label: 'Handled', data: handled }],
      unit: rate,
    }),
    linePlot('lateness', 'Lateness on that node', [
      ['half at most', (entry) => entry.flow?.latenessMillis?.p50], ['95 % at most', (entry) => entry.flow?.latenessMillis?.p95],
      ['99 % at most', (entry) => entry.flow?.latenessMillis?.p99]], duration),
  ];
}

// Only between two answers of the same node: behind a balancer each may be another's.
function perSecond(entry, before) {
  if (!before?.flow || !entry.flow || before.flow.node !== entry.flow.node || entry.flow.handled < before.flow.handled) {
    return null;
  }
  return (entry.flow.handled - before.flow.handled) * 1_000 / Math.max(1, entry.at - before.at);
}
