// Shows that Redis or the application does not answer: which, since when, and what still works.

import { html, nothing } from './lib/lit-html.js';
import { countdown, moment } from './format.js';
import { state } from './store.js';
import { ICONS } from './icons.js';

/** Returns whether the page shows data from before an outage. */
export function isStale() {
  return Boolean(state.overview && (state.outage || (state.failure && !isRejected())));
}

function isRejected() {
  return Boolean(state.failure?.rejected);
}

function since(iso) {
  return html`<time datetime=${iso} title=${iso}>${moment(iso)}</time>`;
}

/** Renders what changes each second, outside the alert, so that screen readers do not read all of it again. */
function asOf(begin) {
  const latest = state.history.at(-1);
  const lasting = countdown(begin, Date.now());
  return html`<p class="asof">${lasting.endsWith(' ago') ? `For ${lasting.replace(' ago', '')} so far. ` : nothing}${isStale() && latest
    ? `The data below is as of ${moment(new Date(latest.at).toISOString())}. ` : nothing}This page retries automatically.</p>`;
}

/** Renders the outage of Redis, as the node knows it. */
function ofStore({ address, since: begin, failure }) {
  return html`<div class="alert error"><div role="alert"><h2>${ICONS.error} Redis${address ? ` at ${address}` : ''} has not answered since ${since(begin)}</h2>
    <p><strong>Does not work:</strong> due messages are not started, and sends, cancels and reschedules fail with an exception, except those that a journal records.</p>
    <p><strong>Still works:</strong> handlers that run continue. Messages stay in Redis, and are handled late once it answers.</p>
    <p><strong>What to do:</strong> check that this Redis is running, and that this node can reach it.${failure ? html` Last error: ${failure}` : nothing}</p></div>
    ${asOf(begin)}</div>`;
}

/** Renders the current failure; nothing if the last request has succeeded. */
export function outage() {
  if (state.outage) {
    return ofStore(state.outage);
  }
  if (!state.failure) {
    return nothing;
  }
  return html`<div class="alert error"><div role="alert"><h2>${ICONS.error} ${state.failure.title}${isRejected() ? nothing : html` since ${since(state.failingSince)}`}</h2>
    <p>${state.failure.message}</p></div>${isRejected() ? nothing : asOf(state.failingSince)}</div>`;
}
