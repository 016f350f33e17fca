// Lists the alerts, one entry for all queues with the same problem, each with its fix.

import { html, nothing } from './lib/lit-html.js';
import { count, plural } from './format.js';
import { state } from './store.js';
import { link } from './address.js';
import { loading, name, time, title } from './frame.js';
import { ICONS } from './icons.js';

const SEVERITY = { error: 'Error', warning: 'Warning', info: 'Info' };

// What several queues have in common, by the title of one.
const SEVERAL = {
  'The queue has no consumer': 'have no consumer',
  'The queue is behind': 'are behind',
  'The queue waits for another system': 'wait for another system',
  'An intake schedules nothing': 'have intakes that schedule nothing',
  'The queue is compared with its journal': 'are compared with their journals',
  'The queue is paused': 'are paused',
  'The queue cannot be read': 'cannot be read',
  'The queue has dead letters': 'have dead letters',
  'Leases have lapsed': 'have lapsed leases',
  'Handlers are overdue': 'have overdue handlers',
  'Dead letters are growing': 'have a growing number of dead letters',
};

const SHOWN = 10;

// The format of times from the server, as words of their own: one within an id is part of it.
const TIME = /(^|\s)(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z)(?=[.,\s]|$)/;

/** Converts the times in a text to the reader's time zone. */
function withTimes(text) {
  return text.split(TIME).map((part, index) => index % 3 === 2 ? time(part) : part);
}

/** Groups alerts of the same severity and title, in their order. */
export function grouped(alerts) {
  const groups = new Map();
  alerts.forEach((alert) => {
    const severity = SEVERITY[alert.severity] ? alert.severity : 'info';
    const key = `${severity}\n${alert.title}\n${alert.action}`;
    groups.set(key, groups.get(key) ?? { severity, title: alert.title, action: alert.action, alerts: [] });
    groups.get(key).alerts.push(alert);
  });
  return [...groups.values()];
}

function heading({ title: text, alerts }) {
  if (alerts.length > 1 && !alerts.every((alert) => alert.queue)) {
    return `${text} (${alerts.length} times)`;
  }
  return alerts.length > 1 ? `${plural(alerts.length, 'queue')} ${SEVERAL[text] ?? `have this problem: ${text}`}` : text;
}

function queueLink(alert) {
  return html`<a href=${link('queues', alert.queue)}>${name(alert.queue)}</a>`;
}

/** Renders one line for each group that needs attention. */
export function alertSummary() {
  return grouped(state.overview.alerts).filter(({ severity }) => severity !== 'info').map((group) => {
    const queues = group.alerts.filter((alert) => alert.queue);
    return html`<p class=${`alert summary ${group.severity}`}>${ICONS[group.severity]} <a href="#/alerts">${heading(group)}</a>
      <span>${queues.slice(0, 3).map((alert, index) => html`${index > 0 ? ', ' : ''}${queueLink(alert)}`)}${queues.length > 3 ? ` and ${count(queues.length - 3)} more` : ''}</span></p>`;
  });
}

/** The title of the alert about a queue that nothing handles. */
export const NO_CONSUMER = 'The queue has no consumer';

/** Renders the alerts of one queue, on its pages. */
export function alertsOf(queue) {
  return state.overview.alerts.filter((alert) => alert.queue === queue && alert.severity !== 'info').map((alert) => html`
    <p class=${`alert summary ${alert.severity}`}>${ICONS[alert.severity]} <strong>${alert.title}</strong> <span>${withTimes(alert.detail)}</span> <a href="#/alerts">What to do</a></p>`);
}

function one(group) {
  const [first] = group.alerts;
  return group.alerts.length === 1 ? html`<h2>${tag(group)} ${first.title}${first.queue ? html`: ${queueLink(first)}` : nothing}</h2><p>${withTimes(first.detail)}</p>`
    : html`<h2>${tag(group)} ${heading(group)}</h2><ul class="entries">${group.alerts.slice(0, SHOWN).map((alert) => html`<li>${alert.queue ? html`${queueLink(alert)}: ` : nothing}${withTimes(alert.detail)}</li>`)}
      ${group.alerts.length > SHOWN ? html`<li>and ${count(group.alerts.length - SHOWN)} more</li>` : nothing}</ul>`;
}

function tag({ severity }) {
  return html`<span class=${`tag ${severity}`}>${ICONS[severity]} ${SEVERITY[severity]}</span>`;
}

export function alertsPage() {
  if (!state.overview) {
    return html`${title('Alerts')}${loading()}`;
  }
  const groups = grouped(state.overview.alerts);
  return html`${title('Alerts')}
    ${groups.length === 0 ? html`<p class="empty" role="status">No alerts.</p>` : html`<ul class="alerts">${groups.map((group) => html`
      <li class=${`alert ${group.severity}`}>${one(group)}
        <p><strong>What to do:</strong> ${group.action}</p>
      </li>`)}</ul>`}`;
}
