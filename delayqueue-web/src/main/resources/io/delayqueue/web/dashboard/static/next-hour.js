// Plots the messages that become due in the next hour, by minute.

import { nothing } from './lib/lit-html.js';
import { count, plural } from './format.js';
import { ask, state } from './store.js';
import { plotOf } from './plots.js';

const MAX_AGE = 15_000;
const minute = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** Requests the next hour of the fullest queues, at most every 15 seconds. */
export async function loadNextHour() {
  if (!state.nextHour || Date.now() - state.nextHour.at >= MAX_AGE) {
    state.nextHour = { ...await ask('GET', 'next-hour'), at: Date.now() };
  }
}

/** Plots minutes; the one with the most messages is marked. */
export function nextHourPlot(minutes, of = '') {
  const most = Math.max(0, ...minutes.map((bin) => bin.count));
  const marked = minutes.findIndex((bin) => bin.count === most);
  return plotOf('next-hour', {
    title: most > 0 ? `Next hour${of}: most at ${minute.format(new Date(minutes[marked].from))}, ${count(most)}` : `Next hour${of}, by minute`,
    kind: 'bar',
    labels: minutes.map((bin) => minute.format(new Date(bin.from))),
    series: [{ label: 'Messages', data: minutes.map((bin) => bin.count) }],
    marked: most > 0 ? marked : null,
    unit: count,
    whole: true,
  });
}

/** Plots the next hour of the fullest queues; nothing until it is known. */
export function nextHourOfAll() {
  const { nextHour } = state;
  return nextHour && nextHour.minutes.length > 0 ? nextHourPlot(nextHour.minutes, state.overview.queues.length > nextHour.queues ? ` of the ${plural(nextHour.queues, 'fullest queue')}` : '') : nothing;
}
