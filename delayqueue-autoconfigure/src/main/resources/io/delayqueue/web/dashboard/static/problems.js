// What is wrong, in words, and what to do.

import { html, nothing } from './lib/lit-html.js';
import { state } from './store.js';
import { link, loading, name, time, title } from './frame.js';

const SEVERITY = { error: 'Error', warning: 'Warning', info: 'To know' };

// As the server writes a time.
const TIME = /(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z)/;

/** Shows the times in it as everywhere: those of the reader's clock. */
function withTimes(text) {
  return text.split(TIME).map((part, index) => index % 2 === 1 ? time(part) : part);
}

export function problemsPage() {
  if (!state.overview) {
    return html`${title('Problems')}${loading()}`;
  }
  const problems = state.overview.problems;
  return html`${title('Problems')}
    ${problems.length === 0 ? html`<p class="empty" role="status">Nothing that this page can see is wrong.</p>` : html`<ul class="problems">${problems.map((problem) => html`
      <li class=${`problem ${SEVERITY[problem.severity] ? problem.severity : 'info'}`}>
        <h2><span class="tag">${SEVERITY[problem.severity] ?? SEVERITY.info}</span> ${problem.title}${problem.queue ? html`: <a href=${link('queues', problem.queue)}>${name(problem.queue)}</a>` : nothing}</h2>
        <p>${withTimes(problem.detail)}</p>
        <p><strong>What to do:</strong> ${problem.action}</p>
      </li>`)}</ul>`}`;
}
