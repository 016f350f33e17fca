// Plots when messages become due: in the next hour by minute, in the next day by hour, in the next weeks by 24 hours.

import { html, nothing } from './lib/lit-html.js';
import { count, plural } from './format.js';
import { askForView, state } from './store.js';
import { plotOf } from './plots.js';

const MAX_AGE = 15_000;
const minute = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric' });
const dayAndTime = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** Requests the next hour of the fullest queues, at most every 15 seconds. */
export async function loadNextHour() {
  if (!state.nextHour || Date.now() - state.nextHour.at >= MAX_AGE) {
    state.nextHour = { ...await askForView('GET', 'next-hour'), at: Date.now() };
  }
}

/** Plots bins of time; the one with the most messages is marked, and named in the title. */
function binPlot(key, title, bins, format) {
  const most = Math.max(0, ...bins.map((bin) => bin.count));
  const marked = bins.findIndex((bin) => bin.count === most);
  return plotOf(key, {
    title: most > 0 ? `${title}: most at ${format.format(new Date(bins[marked].from))}, ${count(most)}` : title,
    kind: 'bar',
    labels: bins.map((bin) => format.format(new Date(bin.from))),
    series: [{ label: 'Messages', data: bins.map((bin) => bin.count) }],
    marked: most > 0 ? marked : null,
    unit: count,
    whole: true,
  });
}

/** Plots spans of 24 hours. When the clocks change, they begin at another time, and two of them may begin on one day. */
function weeksPlot(days) {
  const [begin, ...others] = days.map((one) => minute.format(new Date(one.from)));
  return others.every((other) => other === begin)
    ? binPlot('next-weeks', `Next two weeks, by 24 hours from ${begin}`, days, day)
    : binPlot('next-weeks', 'Next two weeks, by 24 hours', days, dayAndTime);
}

/** Plots when the messages of a queue become due: three series, of which each includes the current minute. */
export function duePlots({ minutes, hours, days }) {
  return [
    binPlot('next-hour', 'Next hour, by minute', minutes, minute),
    binPlot('next-day', 'Next day, by hour', hours, minute),
    weeksPlot(days),
  ];
}

/** Renders what the bins do not say. */
export function dueNote({ overdue, later, waitingInGroup }) {
  const others = [[overdue, 'due now'], [later, 'due later than that'], [waitingInGroup, 'waiting in their group']].filter(([number]) => number > 0);
  return html`<p class="note">The first bar of each plot is the rest of the current minute or hour, and of the first 24 hours, so
    a message of the next hour is in all three.${others.length > 0
    ? ` In none of them: ${others.map(([number, text]) => `${count(number)} ${text}`).join(', ')}.` : ''}</p>`;
}

/** Plots the next hour of the fullest queues; nothing until it is known. */
export function nextHourOfAll() {
  const { nextHour } = state;
  return nextHour && nextHour.minutes.length > 0 ? binPlot('next-hour', `Next hour${state.overview.queues.length > nextHour.queues ? ` of the ${plural(nextHour.queues, 'fullest queue')}` : ', by minute'}`, nextHour.minutes, minute) : nothing;
}
