// A session as one sees and uses it: its screen, what is above it, and what is typed. Its size is its own: what does not
// fit is scrolled, made smaller or follows the cursor.
import { Grid, Metrics, selectedText } from './grid.js';
import { History } from './history.js';
import { Keyboard, parts, pointer } from './input.js';
import { putFile } from './net.js';
import { Screen } from './screen.js';
import { copyText, h, loading, toast } from './ui.js';

// quote writes a path as a word of a shell.
const quote = (path) => /^[\w./+@%:,-]+$/.test(path) ? path : "'" + path.replaceAll("'", "'\\''") + "'";

export const phone = matchMedia('(pointer: coarse)');
const readable = () => phone.matches ? 12.5 : 14;
const zoomKey = 'longterm.zoom';

export class Term {
  // to: drawn(term), state(s), behind(ms), leave(event)
  constructor(link, session, { may, to }) {
    Object.assign(this, { link, id: session.id, to, mayType: may.includes('type') });
    this.screen = new Screen();
    this.grid = new Grid();
    this.history = new History(link, session.id, () => this.heightChanged());
    this.status = h('div', { class: 'over', hidden: true, role: 'status' });
    this.area = this.grid.area = h('textarea', {
      class: 'ime', autocapitalize: 'off', autocomplete: 'off', spellcheck: false, rows: 1, 'autocorrect': 'off', enterKeyHint: 'enter',
    });
    this.runs(session.state);
    this.grid.el.append(this.area);
    this.scroller = h('div', { class: 'scroller', tabIndex: -1 }, h('div', { class: 'paper' }, this.history.el, h('div', { class: 'now' }, this.grid.el)));
    this.wait = h('div', { class: 'wait' });
    this.waits('Loading the screen…');
    this.history.onbusy = (on) => { if (on !== !!this.wait.firstChild) this.waits(on && 'Loading earlier output…'); };
    this.el = h('div', { class: 'term', role: 'region', 'aria-label': 'Terminal of ' + session.name }, this.scroller, this.status, this.wait);
    this.fit = sessionStorage.getItem('longterm.fit') ?? 'auto';
    this.zoom = Number(localStorage.getItem(zoomKey)) || 1;
    this.stuck = true;
    this.listen();
  }

  start() {
    this.sub = this.link.subscribe({ s: this.id, kind: 'full' }, {
      frame: (f, styles) => this.frame(f, styles),
      had: () => this.screen.e && this.screen.at === undefined ? { v: this.screen.v, e: this.screen.e } : {},
      gone: (m) => this.tell(m.message, m.hint),
    });
    this.watcher = new ResizeObserver(() => this.layout());
    this.watcher.observe(this.scroller);
    this.offState = this.link.on('state', () => this.linkChanged());
    this.linkChanged();
  }

  end() {
    this.sub?.end();
    this.sub = null;
    this.watcher?.disconnect();
    this.offState?.();
    removeEventListener('pointerup', this.up);
    this.history.loading.abort();
    cancelAnimationFrame(this.due);
    this.grid.lift();
    this.el.remove();
  }

  // waits shows what is being loaded, if that takes longer than a moment; nothing once it has come.
  waits(text) { this.wait.replaceChildren(...text ? [loading(text)] : []); }

  tell(text, hint) {
    this.waits();
    this.status.replaceChildren(h('strong', { text }), hint ? h('p', { text: hint }) : '');
    this.status.hidden = !text;
  }

  linkChanged() {
    this.el.classList.toggle('offline', this.link.state !== 'open');
  }

  // runs notes a state: what has ended takes no input until it is started again.
  runs(state) {
    this.types = this.mayType && state === 'running';
    this.area.readOnly = !this.types;
    this.area.setAttribute('aria-label', (this.types ? 'Terminal input' : 'Terminal, read only') + '. Control, Alt and Home leave it');
  }

  frame(f, styles) {
    const size = this.screen.cols + 'x' + this.screen.rows.length, was = this.screen.at;
    const scrolled = f.scroll?.[0] === 0 && f.scroll[2] > 0 && !this.screen.alt;
    this.screen.apply(f, styles);
    this.waits();
    // One that comes while none waits to be drawn is acknowledged at once: the next is under way while it is drawn.
    if (this.fresh) this.seen = f.n;
    else this.sub.ack(f.n);
    this.fresh = true;
    if (size !== this.screen.cols + 'x' + this.screen.rows.length) this.layout();
    // Where more came at once than the screen has rows, none stands elsewhere: that is no scroll to be told.
    const most = (f.rows?.length ?? 0) + (f.puts?.length ?? 0) > this.screen.rows.length / 2 && !this.screen.alt;
    if (scrolled || most || f.full || was !== this.screen.at) this.stale = true;
    if (f.state) {
      this.runs(f.state);
      this.to.state?.(f.state);
    }
    this.draw();
  }

  // draw has the newest screen drawn with the browser's next frame; while text is being selected it waits.
  draw() {
    if (this.due || this.selecting) return;
    this.due = requestAnimationFrame(() => {
      this.due = 0;
      const began = performance.now();
      if (!this.m) this.layout();
      this.grid.draw(this.screen, !this.stuck);
      this.follow();
      if (this.seen) this.sub?.ack(this.seen);
      this.fresh = this.seen = 0;
      this.to.behind?.(this.screen.behind);
      this.to.drawn?.(this);
      // A finger's first swipe scrolls only what could be scrolled when it began.
      if (this.stale && (!this.stuck || this.history.at !== this.screen.at || phone.matches && !this.history.total)) this.measure();
      this.took = performance.now() - began;
      this.frames = (this.frames ?? 0) + 1;
    });
  }

  // measure looks how much there is above the screen: when one scrolls, and as it grows meanwhile.
  measure() {
    if (this.measuring || this.screen.alt && this.screen.at === undefined) return;
    this.measuring = true;
    this.stale = false;
    this.history.measure(this.screen.at).finally(() => {
      setTimeout(() => {
        this.measuring = false;
        if (this.stale && !this.stuck) this.measure();
      }, 300);
    });
  }

  // layout chooses the size of characters. auto: as large as is comfortable, and smaller if that shows all columns.
  layout() {
    const { cols, rows } = this.screen, width = this.scroller.clientWidth - 16;
    if (!cols || width <= 0) return;
    const unit = new Metrics(100).advance / 100;
    const whole = Math.floor(width / cols / unit * 4) / 4;
    const tall = (this.scroller.clientHeight - 12) / rows.length / 1.25;
    let size = readable() * this.zoom;
    if (this.fit === 'fit') size = Math.max(3, Math.min(whole, 24));
    else if (this.fit === 'auto' && this.zoom === 1) {
      const least = phone.matches ? 8.5 : 10;
      size = whole >= least ? Math.min(size, whole) : size;
      if (!phone.matches && tall >= 10) size = Math.min(size, Math.floor(tall * 4) / 4);
    }
    const floor = cols * new Metrics(size).w > width && size <= whole;
    const key = [size, floor, devicePixelRatio].join();
    if (this.m && key === this.sizeKey) return this.heightChanged();
    this.sizeKey = key;
    const m = this.m = this.history.m = new Metrics(size, floor);
    m.put(this.el);
    this.grid.use(m);
    this.el.classList.toggle('pans', cols * m.w > width + 1);
    this.heightChanged();
    this.draw();
  }

  heightChanged() {
    if (!this.m) return;
    const old = this.history.el.offsetHeight, at = this.scroller.scrollTop;
    this.history.el.style.height = this.history.lines * this.m.h + 'px';
    this.history.el.hidden = this.screen.alt && this.screen.at === undefined;
    if (this.stuck) this.follow();
    else if (!old) this.scroller.scrollTop = at + this.history.el.offsetHeight; // it came above what is looked at
    this.scrolled();
  }

  follow() {
    if (!this.stuck || !this.m) return;
    const { scroller, screen, m } = this, c = screen.cursor;
    scroller.scrollTop = scroller.scrollHeight;
    if (c?.visible && screen.at === undefined) {
      const y = this.grid.el.offsetTop + c.y * m.h; // where not all rows fit: the cursor's does
      if (y < scroller.scrollTop) scroller.scrollTop = Math.max(this.grid.el.offsetTop, y - m.h);
      const x = c.x * m.w, view = scroller.clientWidth - 24;
      if (screen.cols * m.w > view) {
        if (x < scroller.scrollLeft + 2 * m.w) scroller.scrollLeft = x < view * 0.8 ? 0 : x - view / 3;
        else if (x > scroller.scrollLeft + view - 2 * m.w) scroller.scrollLeft = x - view * 0.7;
      }
    }
    this.put = scroller.scrollTop;
  }

  scrolled() {
    const { scroller } = this;
    const top = scroller.scrollTop - this.history.el.offsetTop;
    if (!this.history.el.hidden && top < this.history.el.offsetHeight) this.history.draw(top, top + scroller.clientHeight);
    this.el.classList.toggle('above', !this.stuck);
  }

  listen() {
    const { scroller, area } = this;
    scroller.addEventListener('scroll', () => {
      const end = scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 4;
      const byHand = Math.abs(scroller.scrollTop - this.put) > 1;
      if (byHand) {
        if (this.stuck && !end) this.stale = true;
        this.stuck = end;
        if (this.stale && !end) this.measure();
      }
      this.put = scroller.scrollTop;
      this.scrolled();
    }, { passive: true });
    const look = () => { if (!this.history.total && !this.screen.alt) this.measure(); };
    scroller.addEventListener('wheel', (e) => { if (e.deltaY < 0) look(); }, { passive: true });
    scroller.addEventListener('touchstart', look, { passive: true });
    scroller.addEventListener('pointerenter', look);

    const send = (m) => this.type(m);
    // All that was selected, where rows of it have gone since: else Ctrl+C would be the program's as soon as the last of them has.
    const selected = () => this.grid.whole || selectedText(this.el, getSelection());
    this.keyboard = new Keyboard(this.el, area, {
      key: (k, ev) => send({ t: 'key', k, ...(ev && { ev }) }),
      text: (text) => send({ t: 'text', text }),
      paste: (text) => this.paste(text),
      files: (list) => this.store(list),
      releases: () => !!this.screen.keys?.kitty,
      selected,
      copy: (drop) => {
        copyText(selected());
        this.grid.whole = '';
        if (drop) getSelection().removeAllRanges();
        this.focus();
      },
      page: (by) => {
        if (this.screen.alt) return false;
        look();
        scroller.scrollTop += by * scroller.clientHeight * 0.9;
        return true;
      },
      leave: (e) => this.to.leave?.(e),
    });
    area.addEventListener('compositionstart', () => this.grid.place(this.screen));
    const told = (on) => { if (this.types && this.sub && this.screen.at === undefined) this.link.write({ t: 'focus', id: this.sub.id, on }); };
    area.addEventListener('focus', () => { this.el.classList.add('focused'); told(true); });
    area.addEventListener('blur', () => { this.el.classList.remove('focused'); told(false); });

    pointer(this.grid.el, {
      at: (e) => this.cellAt(e),
      wants: () => this.types && this.screen.at === undefined && this.screen.mouse,
      send: (m) => send({ t: 'mouse', ...m }),
      scroll: (by, place, mod) => this.wheel(by, place, mod),
    });
    let down = null;
    scroller.addEventListener('pointerdown', (e) => {
      down = { x: e.clientX, y: e.clientY };
      this.grid.whole = '';
      this.grid.rest(60);
      if (e.pointerType !== 'touch' && e.button === 0 && !this.screen.mouse) this.selecting = true;
    });
    addEventListener('pointerup', this.up = () => {
      if (!this.selecting) return;
      this.selecting = false;
      this.draw();
    });
    scroller.addEventListener('click', (e) => {
      const moved = down && Math.hypot(e.clientX - down.x, e.clientY - down.y) > 6;
      if (!moved && getSelection().isCollapsed && !e.target.closest('a')) this.focus();
    });
    this.pinch();
  }

  // wheel says whether the program gets the wheel, and gives it to the program.
  wheel(by, place, mod) {
    const { screen } = this;
    if (!this.types || screen.at !== undefined || !screen.mouse && !screen.alt) return false;
    if (by && screen.mouse) this.type({ t: 'mouse', b: by > 0 ? 'wheel-down' : 'wheel-up', a: 'press', ...place, ...(mod && { m: mod }) });
    else if (by) this.type({ t: 'key', k: by > 0 ? 'Down' : 'Up' });
    return true;
  }

  pinch() {
    let from = null;
    const apart = (e) => Math.hypot(e.touches[0].clientX - e.touches[1].clientX, e.touches[0].clientY - e.touches[1].clientY);
    this.scroller.addEventListener('touchstart', (e) => { from = e.touches.length === 2 ? { d: apart(e), size: this.m?.size ?? 12 } : null; }, { passive: true });
    this.scroller.addEventListener('touchmove', (e) => {
      if (!from || e.touches.length !== 2) return;
      e.preventDefault();
      this.setZoom(from.size * apart(e) / from.d / readable());
    }, { passive: false });
  }

  setZoom(z) {
    this.zoom = Math.min(4, Math.max(0.3, Math.round(z * 20) / 20));
    this.fit = 'zoom';
    localStorage.setItem(zoomKey, this.zoom);
    this.layout();
  }

  setFit(fit) {
    this.fit = fit;
    this.zoom = 1;
    localStorage.removeItem(zoomKey);
    sessionStorage.setItem('longterm.fit', fit);
    this.stuck = true;
    this.layout();
    this.follow();
  }

  cellAt(e) {
    const box = this.grid.rows.getBoundingClientRect(), { m, screen } = this;
    const within = (v, n) => Math.max(0, Math.min(n - 1, Math.floor(v)));
    return { x: within((e.clientX - box.left) / m.w, screen.cols), y: within((e.clientY - box.top) / m.h, screen.rows.length) };
  }

  type(m) {
    if (!this.types || !this.sub) return;
    if (this.screen.at !== undefined) {
      toast('This is the past. Go back to now to type.');
      return;
    }
    this.link.type(this.sub.id, m);
    if (m.t === 'mouse') return;
    this.grid.whole = '';
    if (!this.stuck) this.bottom();
  }

  paste(text) { for (const t of parts(text)) this.type({ t: 'paste', text: t }); }

  // store puts files into the session, and pastes their paths.
  async store(files) {
    if (!this.types) return toast('This session takes no input, and no files.', true);
    const paths = [];
    try {
      for (const f of files) paths.push((await putFile(`sessions/${this.id}/files`, f)).path);
    } catch (err) {
      toast(err.message, true);
    }
    if (paths.length) this.paste(paths.map(quote).join(' '));
  }

  bottom() {
    this.stuck = true;
    this.follow();
    this.scrolled();
  }

  focus() { this.area.focus({ preventScroll: true }); }

  // go shows the screen as it stood at a moment; without one, as it is.
  go(at) {
    this.stuck = true;
    if (!this.wait.firstChild) this.waits(at === undefined ? 'Loading the newest screen…' : 'Loading that moment…');
    this.sub.change({ at, v: undefined, e: undefined });
  }

  // resize makes the session as large as what is seen of it: only because somebody asked for it.
  resize() {
    const m = new Metrics(readable() * this.zoom);
    const cols = Math.max(20, Math.floor((this.scroller.clientWidth - 16) / m.w)), rows = Math.max(5, Math.floor((this.scroller.clientHeight - 12) / m.h));
    this.fit = 'auto';
    this.link.type(this.sub.id, { t: 'resize', cols, rows });
    return { cols, rows };
  }

  text() { return this.screen.rows.map((r) => r.text); }
}
