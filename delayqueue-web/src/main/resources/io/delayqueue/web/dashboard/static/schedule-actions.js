// Pauses, resumes, triggers and removes schedules.

import { html } from './lib/lit-html.js';
import { count, plural } from './format.js';
import { ask, queuePath, requireNotFound, state } from './store.js';
import { name } from './frame.js';
import { act, confirm } from './dialog.js';
import { link } from './address.js';

/** What can be done. `many` is offered for all that match, too. */
export const DOING = {
  pause: { verb: 'Pause', method: 'PUT', path: '/pause', many: true, text: 'Their occurrences are skipped, and counted, until they are resumed. Those that were sent before are handled. A pause also outlives a new definition.',
    one: 'Its occurrences are skipped, and counted, until it is resumed. Those that were sent before are handled. The pause also outlives a new definition.' },
  resume: { verb: 'Resume', method: 'DELETE', path: '/pause', many: true, text: 'Their next occurrences are sent.', one: 'Its next occurrence is sent.' },
  trigger: { verb: 'Trigger', method: 'POST', path: '/trigger', text: 'One occurrence of each is sent now, in addition to those of the times, even if the schedule is paused.',
    one: 'One occurrence is sent now, in addition to those of the times, even if the schedule is paused.' },
  remove: { verb: 'Remove', method: 'DELETE', path: '', many: true, danger: true, text: 'They send nothing more. Occurrences that were sent are handled. Schedules that an application with live nodes declares are not removed.',
    one: 'It sends nothing more. Occurrences that were sent are handled. A schedule that an application with live nodes declares is not removed.' },
};

const RESULTS = {
  pause: { DONE: ['paused', 'paused'], UNCHANGED: ['was paused already', 'were paused already'] },
  resume: { DONE: ['resumed', 'resumed'], UNCHANGED: ['was not paused', 'were not paused'] },
  trigger: { DONE: ['occurrence sent', 'occurrences sent'] },
  remove: { DONE: ['removed', 'removed'], DECLARED: ['is declared by an application and was not removed', 'are declared by an application and were not removed'] },
};

/** Changes one schedule, and returns the result. */
async function change(queue, doing, schedule) {
  const how = DOING[doing];
  try {
    const answer = await ask(how.method, `${queuePath(queue)}/schedules/by-name${how.path}`, { name: schedule });
    return answer.result ?? 'DONE';
  }
  catch (failure) {
    requireNotFound(failure);
    return 'NOT_FOUND';
  }
}

function summary(doing, results, left) {
  const words = { ...RESULTS[doing], NOT_FOUND: ['was not found', 'were not found'] };
  const parts = Object.entries(results).map(([result, number]) => `${count(number)} ${words[result]?.[number === 1 ? 0 : 1] ?? result}`);
  return parts.join(', ') + (left > 0 ? `; stopped, ${count(left)} unchanged` : '');
}

/** Asks for confirmation, changes the schedules one by one, and shows the number of each result. */
export function askSchedules(queue, doing, schedules) {
  const how = DOING[doing];
  confirm({
    title: html`${how.verb}: ${schedules.length === 1 ? html`schedule ${name(schedules[0])}` : plural(schedules.length, 'schedule')} of queue ${name(queue)}?`,
    text: html`<p>${schedules.length === 1 ? how.one : how.text}</p>`,
    confirm: `${how.verb}: ${plural(schedules.length, 'schedule')}`,
    danger: how.danger,
    act: async (form, progress, leave) => {
      const results = {};
      let done = 0;
      for (const schedule of schedules) {
        if (!progress(`${count(done)} of ${count(schedules.length)} done`)) {
          break;
        }
        const result = await change(queue, doing, schedule);
        results[result] = (results[result] ?? 0) + 1;
        done++;
      }
      if (state.page.chosen) {
        state.page.chosen = new Set();
      }
      if (doing === 'remove' && results.DONE && state.route.page === 'schedule') {
        leave(link('queues', queue, 'schedules'));
      }
      return summary(doing, results, schedules.length - done);
    },
  });
}

/** Resumes a schedule, which needs no confirmation. */
export function resumeSchedule(queue, schedule) {
  act(async () => summary('resume', { [await change(queue, 'resume', schedule)]: 1 }, 0));
}
