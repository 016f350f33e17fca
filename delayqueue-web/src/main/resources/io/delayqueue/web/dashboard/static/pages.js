// Turns the pages of a list, and chooses its rows. The address holds the cursor of the page, which an operator may share.

import { html, nothing } from './lib/lit-html.js';
import { count } from './format.js';
import { changed, may, state } from './store.js';
import { showQuery } from './address.js';

export function isPhone() {
  return matchMedia('(max-width: 40rem)').matches;
}

/** Returns the number of rows of a page: fewer on a phone, where a row takes several lines. */
export function pageSize() {
  return isPhone() ? 20 : 50;
}

/** The changes of a query that lead to the first page. */
export const FIRST_PAGE = { page: null, cursor: null };

/** Returns the first page of a list, with the cursors of the pages that this tab has seen. */
export function pagesOf() {
  return { number: 1, cursor: null, seen: new Map([[1, null]]) };
}

/** Opens the page that the query of an address names. */
export function openPage(pages, { page, cursor }) {
  pages.cursor = cursor ?? null;
  pages.number = pages.cursor === null ? 1 : Math.max(2, Number(page) || 2);
  pages.seen.set(pages.number, pages.cursor);
}

function turn(number, cursor) {
  showQuery(cursor === null ? FIRST_PAGE : { page: number, cursor });
}

/** Returns a handler that shows what matches a text once the user has stopped typing, from the first page on. */
export function typing(parameter) {
  return ({ target }) => {
    const view = state.page;
    view.typed = target.value;
    clearTimeout(view.typing);
    view.typing = setTimeout(() => {
      view.typing = null;
      showQuery({ [parameter]: view.typed, ...FIRST_PAGE }, true);
      changed();
    }, 300);
    changed();
  };
}

/** Renders the buttons. A page that was opened by its address leads back to the first one only. */
export function turning(pages, nextCursor) {
  const before = pages.seen.has(pages.number - 1);
  return html`<div class="bar">
    ${before || pages.number === 1 ? html`<button type="button" ?disabled=${pages.number === 1} @click=${() => turn(pages.number - 1, pages.seen.get(pages.number - 1))}>Previous page</button>`
    : html`<button type="button" @click=${() => turn(1, null)}>First page</button>`}
    <span class="soft">Page ${count(pages.number)}</span>
    <button type="button" ?disabled=${!nextCursor} @click=${() => turn(pages.number + 1, nextCursor)}>Next page</button></div>`;
}

function choose(ids) {
  state.page.chosen = new Set(ids);
  changed();
}

/** Renders the cell that chooses a row, for those who may act on it. */
export function choosing(id, label) {
  return may('OPERATE') ? html`<td class="choice"><input type="checkbox" aria-label=${`Choose ${label}`} .checked=${state.page.chosen.has(id)}
    @change=${({ target }) => choose([...state.page.chosen].filter((one) => one !== id).concat(target.checked ? id : []))}></td>` : nothing;
}

/** Renders the header of these cells. */
export function choosingAll(ids) {
  return may('OPERATE') ? html`<th scope="col" class="choice"><input type="checkbox" aria-label="Choose all of this page" .checked=${ids.every((id) => state.page.chosen.has(id))}
    @change=${({ target }) => choose(target.checked ? ids : [])}></th>` : nothing;
}
