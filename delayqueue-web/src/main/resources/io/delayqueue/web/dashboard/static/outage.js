// Shows that Redis or the application does not answer: which, since when, and what still works.

import { html, nothing } from './lib/lit-html.js';
import { countdown, moment } from './format.js';
import { state } from './store.js';
import { ICONS } from './icons.js';

// The page requests its data more often than this, unless an answer takes long.
const OLD = 15_000;

/** Returns whether the page shows data from before an outage, or from before requests were rejected, as after the end of a session. */
export function isStale() {
  return Boolean(state.overview && (state.outage || (state.failure && !(isRejected() && state.ofView))));
}

function isRejected() {
  return Boolean(state.failure?.rejected);
}

function since(iso) {
  return html`<time datetime=${iso} title=${iso}>${moment(iso)}</time>`;
}

/** Returns of which time the data are, if there are any. */
function timeOfData() {
  const latest = state.history.at(-1);
  return latest ? `The data below is as of ${moment(new Date(latest.at).toISOString())}. ` : nothing;
}

/** Renders what changes each second, outside the alert, so that screen readers do not read all of it again. */
function asOf(begin) {
  const lasting = countdown(begin, Date.now());
  return html`<p class="asof">${lasting.endsWith(' ago') ? `For ${lasting.replace(' ago', '')} so far. ` : nothing}${isStale() ? timeOfData() : nothing}This page retries automatically.</p>`;
}

/** Renders the outage of Redis, as the node knows it. */
function ofStore({ address, since: begin, failure }) {
  return html`<div class="alert error"><div role="alert"><h2>${ICONS.error} Redis${address ? ` at ${address}` : ''} has not answered since ${since(begin)}</h2>
    <p><strong>Does not work:</strong> due messages are not started, and sends, cancels and reschedules fail with an exception, except those that a journal records.</p>
    <p><strong>Still works:</strong> handlers that run continue. Messages stay in Redis, and are handled late once it answers.</p>
    <p><strong>What to do:</strong> check that this Redis is running, and that this node can reach it.${failure ? html` Last error: ${failure}` : nothing}</p></div>
    ${asOf(begin)}</div>`;
}

/** Renders of which time the data are, if they are not refreshed: while updates are paused, and while an answer takes long. */
function age() {
  const latest = state.history.at(-1);
  return latest && (!state.live || Date.now() - latest.at > OLD)
    ? html`<p class="asof">${state.live ? nothing : 'Updates are paused. '}${timeOfData()}</p>` : nothing;
}

/** Renders the current failure, or the age of data that are not refreshed; nothing if the last request has succeeded lately. */
export function outage() {
  if (state.outage) {
    return ofStore(state.outage);
  }
  if (!state.failure) {
    return age();
  }
  return html`<div class="alert error"><div role="alert"><h2>${ICONS.error} ${state.failure.title}${isRejected() ? nothing : html` since ${since(state.failingSince)}`}</h2>
    <p>${state.failure.message}</p></div>${!isRejected() ? asOf(state.failingSince)
    : isStale() ? html`<p class="asof">${timeOfData()}</p>` : nothing}</div>`;
}
