// Formats numbers, times and texts.

const counts = new Intl.NumberFormat('en');
const SECONDS = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' };
const moments = new Intl.DateTimeFormat('en-GB', SECONDS);
const momentsOfOtherYears = new Intl.DateTimeFormat('en-GB', { ...SECONDS, year: 'numeric' });
const clocks = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
const offsets = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'shortOffset' });

const UNITS = [['d', 86_400_000], ['h', 3_600_000], ['min', 60_000], ['s', 1_000]];

// Characters that are invisible or change the text around them.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function count(number) {
  return number === null || number === undefined ? '–' : counts.format(number);
}

export function duration(millis) {
  if (millis === null || millis === undefined) {
    return '–';
  }
  const size = Math.abs(millis);
  if (size < 1_000) {
    return `${Math.round(millis)} ms`;
  }
  if (size < 10_000) {
    return `${(millis / 1_000).toFixed(1)} s`;
  }
  const parts = [];
  let rest = size;
  for (const [unit, length] of UNITS) {
    if (parts.length < 2 && (rest >= length || parts.length > 0)) {
      parts.push(`${Math.floor(rest / length)} ${unit}`);
      rest %= length;
    }
  }
  return (millis < 0 ? '-' : '') + parts.filter((part, index) => index === 0 || !part.startsWith('0 ')).join(' ');
}

/** Formats a duration of a definition with all of its units, such as 1 h 2 min 12.5 s. */
export function exactDuration(millis) {
  const parts = [];
  let rest = millis;
  for (const [unit, length] of UNITS) {
    const number = unit === 's' && millis >= length ? rest / length : Math.floor(rest / length);
    if (number > 0) {
      parts.push(`${number} ${unit}`);
    }
    rest %= length;
  }
  return parts.length > 0 ? parts.join(' ') : `${millis} ms`;
}

/** Formats a time. Returns a text that is no time, as an address may hold, as it is. */
export function moment(iso) {
  if (!iso) {
    return '–';
  }
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) {
    return named(iso);
  }
  return (at.getFullYear() === new Date().getFullYear() ? moments : momentsOfOtherYears).format(at);
}

/** Formats the time of day of milliseconds. */
export function clock(at) {
  return clocks.format(new Date(at));
}

/** Returns the offset of the reader's time zone, in which all times are shown. */
export function offset() {
  return offsets.formatToParts(new Date()).find(({ type }) => type === 'timeZoneName')?.value.replace(/GMT|UTC/, 'UTC') ?? '';
}

/** Returns the name of that time zone, with its offset. */
export function zone() {
  const { timeZone } = offsets.resolvedOptions();
  return timeZone === 'UTC' ? timeZone : `${timeZone} (${offset()})`;
}

export function countdown(iso, now) {
  const left = Date.parse(iso) - now;
  if (Math.abs(left) < 1_000) {
    return 'now';
  }
  const whole = Math.round(left / 1_000) * 1_000;
  return left > 0 ? `in ${seconds(whole)}` : `${seconds(-whole)} ago`;
}

function seconds(millis) {
  return millis < 10_000 ? `${millis / 1_000} s` : duration(millis);
}

/** Makes the invisible characters of an external text visible. */
export function shown(text) {
  return String(text).replace(UNSEEN, (unseen) => unseen === '\n' || unseen === '\t' ? unseen
    : `\\u{${unseen.codePointAt(0).toString(16)}}`);
}

export function named(text) {
  return shown(text).replace(/[\n\t]/g, (unseen) => unseen === '\n' ? '\\n' : '\\t');
}

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}
