// Renders the frame of every view.

import { html, nothing } from './lib/lit-html.js';
import { countdown, moment, named } from './format.js';
import { now, state } from './store.js';

export function link(...parts) {
  return `#/${parts.map(encodeURIComponent).join('/')}`;
}

export function name(text) {
  return html`<bdi class="name">${named(text)}</bdi>`;
}

export function time(iso) {
  return iso ? html`<time datetime=${iso} title=${iso}>${moment(iso)}</time>` : '–';
}

/** Renders a time as a countdown. */
export function until(iso) {
  return iso ? html`<time datetime=${iso} title=${moment(iso)}>${countdown(iso, now())}</time>` : '–';
}

function entry(page, text, badge) {
  const current = state.route.page === page;
  return html`<li><a href=${page === 'overview' ? '#/' : `#/${page}`} aria-current=${current ? 'page' : nothing}>${text}${badge}</a></li>`;
}

export function frame(view) {
  const alerts = state.overview?.alerts.filter((alert) => alert.severity !== 'info').length ?? 0;
  return html`
    <header>
      <a class="brand" href="#/">DelayQueue</a>
      <nav aria-label="Pages"><ul>
        ${entry('overview', 'Queues', nothing)}
        ${entry('alerts', 'Alerts', alerts > 0 ? html` <span class="badge">${alerts}<span class="unseen"> open</span></span>` : nothing)}
        ${entry('nodes', 'Nodes', nothing)}
      </ul></nav>
      <div class="session">
        <button type="button" aria-pressed=${!state.live} @click=${() => document.dispatchEvent(
    new CustomEvent('dashboard:live', { detail: !state.live }))}>Pause updates</button>
        ${state.overview ? html`<span class="principal">${named(state.overview.principal)}</span>` : nothing}
      </div>
    </header>
    <main id="main" tabindex="-1">
      ${state.failure ? html`<div class="alert error" role="alert"><h2>${state.failure.title}</h2>
        <p>${state.failure.message}</p>${state.failure.status >= 400 && state.failure.status < 500 ? nothing : html`<p>The data shown may be outdated. This page retries automatically.</p>`}</div>` : nothing}
      ${view}
    </main>`;
}

export function loading() {
  return state.failure ? nothing : html`<p class="loading">Loading …</p>`;
}

export function crumbs(...steps) {
  return html`<nav class="crumbs" aria-label="Breadcrumb"><ol>
    <li><a href="#/">Queues</a></li>${steps.map(([text, href]) => html`<li><a href=${href}>${name(text)}</a></li>`)}
  </ol></nav>`;
}

export function title(content) {
  return html`<h1 tabindex="-1">${content}</h1>`;
}
