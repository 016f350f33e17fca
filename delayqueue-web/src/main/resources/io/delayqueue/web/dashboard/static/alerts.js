// Lists the alerts, each with its fix.

import { html, nothing } from './lib/lit-html.js';
import { state } from './store.js';
import { link, loading, name, time, title } from './frame.js';

const SEVERITY = { error: 'Error', warning: 'Warning', info: 'Info' };

// The format of times from the server.
const TIME = /(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z)/;

/** Converts the times in a text to the reader's time zone. */
function withTimes(text) {
  return text.split(TIME).map((part, index) => index % 2 === 1 ? time(part) : part);
}

export function alertsPage() {
  if (!state.overview) {
    return html`${title('Alerts')}${loading()}`;
  }
  const alerts = state.overview.alerts;
  return html`${title('Alerts')}
    ${alerts.length === 0 ? html`<p class="empty" role="status">No alerts.</p>` : html`<ul class="alerts">${alerts.map((alert) => html`
      <li class=${`alert ${SEVERITY[alert.severity] ? alert.severity : 'info'}`}>
        <h2><span class="tag">${SEVERITY[alert.severity] ?? SEVERITY.info}</span> ${alert.title}${alert.queue ? html`: <a href=${link('queues', alert.queue)}>${name(alert.queue)}</a>` : nothing}</h2>
        <p>${withTimes(alert.detail)}</p>
        <p><strong>What to do:</strong> ${alert.action}</p>
      </li>`)}</ul>`}`;
}
