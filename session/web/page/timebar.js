// The time bar: any moment of a session's past by dragging, and playing from there.
import { get } from './net.js';
import { button, clock, duration, h, icon } from './ui.js';

const speeds = [0.5, 1, 2, 4, 8, 16, 64, 256];

export class TimeBar {
  constructor(term, session) {
    Object.assign(this, { term, session, speed: 4 });
    this.from = +new Date(session.created);
    this.to = +new Date(session.ended ?? Date.now());
    this.at = this.to;
    this.range = h('input', { type: 'range', min: 0, step: 1, 'aria-label': 'Moment', oninput: () => this.drag() });
    this.marks = h('div', { class: 'marks', 'aria-hidden': 'true' });
    this.label = h('output', { class: 'moment' });
    this.playButton = button('Play', 'play', () => this.playing ? this.pause() : this.play());
    this.speedButton = h('button', { class: 'small', title: 'Speed', onclick: () => {
      this.speed = speeds[(speeds.indexOf(this.speed) + 1) % speeds.length];
      this.speedButton.textContent = this.speed + '×';
    }, text: this.speed + '×' });
    this.nowButton = h('button', { class: 'small', text: session.ended ? 'End' : 'Now', onclick: () => this.now() });
    this.el = h('div', { class: 'timebar', role: 'group', 'aria-label': 'Time' }, this.playButton, this.speedButton,
      h('div', { class: 'track' }, this.marks, this.range), this.label, this.nowButton);
    this.show();
    this.mark();
  }

  end() {
    this.pause();
    if (this.asked !== undefined) this.term.go(undefined);
  }

  async mark() {
    const all = await get('commands', { session: this.session.id, limit: 300 }).catch(() => {}) ?? [];
    this.marks.replaceChildren(...all.filter((c) => c.started).map((c) => h('i', { class: c.exit_code ? 'bad' : '', style: { left: (new Date(c.started) - this.from) / this.span() * 100 + '%' } })));
  }

  span() { return Math.max(1000, this.to - this.from); }

  drag() {
    this.pause();
    this.moment(this.from + this.range.value / this.range.max * this.span());
  }

  // moment shows a time. While an answer is under way the newest wish waits for it: dragging asks no faster than is drawn.
  moment(ms) {
    this.at = ms;
    this.show();
    if (this.busy) {
      this.again = true;
      return;
    }
    this.ask(new Date(ms).toISOString());
  }

  ask(at) {
    this.asked = at;
    this.busy = true;
    this.again = false;
    clearTimeout(this.patience);
    this.patience = setTimeout(() => this.arrived(), 5000);
    this.term.go(at);
  }

  // arrived is called when a frame was drawn.
  arrived() {
    if (!this.busy) return;
    this.busy = false;
    clearTimeout(this.patience);
    if (this.again && this.asked !== undefined) this.ask(new Date(this.at).toISOString());
  }

  // offset shows the moment when the output had come so far.
  offset(off, time) {
    this.pause();
    if (time) this.at = Math.min(this.to - 1, new Date(time));
    this.show();
    this.ask(off);
    if (!time) this.label.textContent = 'Past';
    this.el.classList.add('past');
  }

  now() {
    this.pause();
    this.asked = undefined;
    this.busy = this.again = false;
    if (!this.session.ended) this.to = Date.now();
    this.at = this.to;
    this.show();
    this.term.go(undefined);
    this.term.focus();
  }

  show() {
    const steps = this.range.max = Math.max(1000, Math.round(this.span() / 1000)); // arrows go by seconds
    this.range.value = Math.round((this.at - this.from) / this.span() * steps);
    const past = this.at < this.to;
    this.label.textContent = past ? clock(this.at) + ' · ' + duration(this.to - this.at) + ' back' : this.session.ended ? 'End' : 'Live';
    this.range.setAttribute('aria-valuetext', this.label.textContent);
    this.label.title = new Date(this.at).toLocaleString();
    this.el.classList.toggle('past', past);
  }

  play() {
    if (this.at >= this.to) this.at = this.from;
    this.playing = true;
    this.setButton('Pause', 'pause');
    let last = performance.now();
    const step = () => {
      if (!this.playing) return;
      const now = performance.now();
      if (!this.busy) {
        const next = this.at + (now - last) * this.speed;
        last = now;
        if (next >= this.to) {
          this.now();
          return;
        }
        this.moment(next);
      }
      this.stepping = setTimeout(step, 50);
    };
    step();
  }

  pause() {
    this.playing = false;
    clearTimeout(this.stepping);
    this.setButton('Play', 'play');
  }

  setButton(label, name) {
    this.playButton.replaceChildren(icon(name));
    this.playButton.title = label;
  }
}
