// What a person does with keys, an input method, mouse and fingers, as messages for a session.

const names = {
  ' ': 'Space', ArrowUp: 'Up', ArrowDown: 'Down', ArrowLeft: 'Left', ArrowRight: 'Right', Backspace: 'BSpace', ContextMenu: 'Menu',
};
const named = /^(Enter|Tab|Escape|Home|End|Insert|Delete|PageUp|PageDown|F\d\d?|Pause)$/;
const mac = /Mac|iP(hone|ad)/.test(navigator.platform);

// keyName is a key event as the daemon names keys, or nothing if it is no key for a program.
export function keyName(e, sticky = {}) {
  if (e.isComposing || e.keyCode === 229 || e.key === 'Dead' || e.key === 'Process' || e.key === 'Unidentified') return '';
  let ctrl = e.ctrlKey || sticky.ctrl, alt = e.altKey || sticky.alt;
  const one = [...e.key].length === 1;
  let k = names[e.key] ?? (named.test(e.key) ? e.key : one ? e.key : '');
  if (!k) return '';
  if (one && e.getModifierState?.('AltGraph')) ctrl = alt = false; // it made the character
  if (one && mac && alt && !ctrl && !sticky.alt) alt = false; // so did Option
  if (one && alt && /^(Key[A-Z]|Digit\d)$/.test(e.code) && e.key.charCodeAt(0) > 126) k = e.code.slice(-1).toLowerCase();
  if (one && ctrl) k = k.length === 1 ? k.toLowerCase() : k;
  const shift = e.shiftKey && (!one || k === 'Space' || ctrl && /[a-z]/.test(k));
  return (ctrl ? 'C-' : '') + (alt ? 'M-' : '') + (shift ? 'S-' : '') + k;
}

export const mods = (e) => (e.shiftKey ? 'S' : '') + (e.altKey ? 'M' : '') + (e.ctrlKey ? 'C' : '');

// Keyboard listens on a text area: keys as keys, and what only an input method or a soft keyboard knows as text. Keys and pastes
// it hears on all of el, which has the area in it: the focus is elsewhere there once text was selected.
export class Keyboard {
  constructor(el, area, to) { // to: key(name, ev), text(t), paste(t), files(list), selected() for copying, leave()
    this.sticky = {};
    let composing = false;
    const send = (name, ev) => {
      to.key(name, ev);
      this.release();
    };
    el.addEventListener('keydown', (e) => {
      if (e.metaKey && (mac || !e.ctrlKey)) return; // the browser's and the system's
      if (e.ctrlKey && e.altKey && /^(Home|Arrow(Up|Down)|k)$/.test(e.key)) return to.leave(e);
      const letter = e.key.toLowerCase();
      if (e.ctrlKey && e.shiftKey && 'cv'.includes(letter) || e.shiftKey && e.key === 'Insert') {
        if (letter === 'c') {
          e.preventDefault();
          to.copy();
        }
        return;
      }
      if (e.ctrlKey && !e.altKey && letter === 'c' && to.selected()) {
        e.preventDefault();
        return to.copy(true);
      }
      if (!e.ctrlKey && e.shiftKey && /^Page/.test(e.key) && to.page(e.key === 'PageUp' ? -1 : 1)) {
        e.preventDefault();
        return;
      }
      const name = keyName(e, this.sticky);
      if (!name) return;
      e.preventDefault();
      area.focus({ preventScroll: true });
      send(name, e.repeat ? 'repeat' : undefined);
    });
    el.addEventListener('keyup', (e) => {
      const name = to.releases() && keyName(e);
      if (name) to.key(name, 'release');
    });
    area.addEventListener('compositionstart', () => { composing = true; area.classList.add('composing'); });
    area.addEventListener('compositionend', (e) => {
      composing = false;
      area.classList.remove('composing');
      area.value = '';
      if (e.data) this.text(to, e.data);
    });
    area.addEventListener('beforeinput', (e) => {
      if (composing || e.inputType === 'insertCompositionText' || e.isComposing) return;
      const keys = { insertLineBreak: 'Enter', insertParagraph: 'Enter', deleteContentBackward: 'BSpace', deleteContentForward: 'Delete', deleteWordBackward: 'C-w' };
      if (keys[e.inputType]) {
        e.preventDefault();
        send(keys[e.inputType]);
      } else if (e.inputType === 'insertText' && e.data) {
        e.preventDefault();
        this.text(to, e.data);
      }
    });
    area.addEventListener('input', () => { if (!composing) area.value = ''; });
    el.addEventListener('paste', (e) => {
      e.preventDefault();
      const text = e.clipboardData.getData('text/plain'), files = [...e.clipboardData.files];
      if (text) to.paste(text);
      else if (files.length) to.files(files);
    });
    for (const on of ['dragover', 'drop']) {
      el.addEventListener(on, (e) => {
        if (!e.dataTransfer.types.includes('Files')) return;
        e.preventDefault(); // else the browser leaves the page for the file
        if (on === 'drop') to.files([...e.dataTransfer.files]);
      });
    }
    el.addEventListener('copy', (e) => {
      const text = to.selected();
      if (!text) return;
      e.preventDefault();
      e.clipboardData.setData('text/plain', text);
    });
  }

  text(to, t) {
    if ((this.sticky.ctrl || this.sticky.alt) && [...t].length === 1) {
      to.key((this.sticky.ctrl ? 'C-' : '') + (this.sticky.alt ? 'M-' : '') + (t === ' ' ? 'Space' : t));
      this.release();
    } else to.text(t);
  }

  release() {
    if (!this.sticky.ctrl && !this.sticky.alt) return;
    this.sticky = {};
    this.onsticky?.(this.sticky);
  }
}

// pieces splits what is pasted, so that no message is too large and no character is cut.
export function* parts(text, size = 200000) {
  for (let i = 0; i < text.length;) {
    let end = Math.min(text.length, i + size);
    if (end < text.length && text.charCodeAt(end - 1) >= 0xd800 && text.charCodeAt(end - 1) < 0xdc00) end--;
    yield text.slice(i, end);
    i = end;
  }
}

const buttons = ['left', 'middle', 'right'];

// pointer has a program that listens to the mouse hear of it. at(e) is the cell; wants() what is listened to.
export function pointer(el, { at, wants, send, scroll }) {
  let held = null, last = '';
  const tell = (b, a, e, place = at(e)) => send({ b, a, x: place.x, y: place.y, ...(mods(e) && { m: mods(e) }) });
  el.addEventListener('pointerdown', (e) => {
    if (e.pointerType === 'touch' || !wants() || e.shiftKey || e.button > 2) return;
    e.preventDefault();
    el.setPointerCapture(e.pointerId);
    held = buttons[e.button];
    tell(held, 'press', e);
  });
  el.addEventListener('pointermove', (e) => {
    const w = wants();
    if (e.pointerType === 'touch' || !w || w === 'press' || w === 'click' || !held && (w !== 'any' || e.shiftKey)) return;
    const p = at(e), key = p.x + ',' + p.y;
    if (key === last) return;
    last = key;
    tell(held ?? 'none', 'move', e, p);
  });
  const up = (e) => {
    if (!held || e.pointerType === 'touch') return;
    if (wants() && wants() !== 'press') tell(held, 'release', e);
    held = null;
  };
  el.addEventListener('pointerup', up);
  el.addEventListener('pointercancel', up);
  el.addEventListener('contextmenu', (e) => { if (wants() && !e.shiftKey) e.preventDefault(); });
  el.addEventListener('click', (e) => {
    if (!wants()) return;
    if (e.target.closest?.('a') && !(e.ctrlKey || e.metaKey)) e.preventDefault();
    if (e.pointerType === 'touch') {
      tell('left', 'press', e);
      if (wants() !== 'press') tell('left', 'release', e);
    }
  });
  let rest = 0;
  el.addEventListener('wheel', (e) => {
    if (e.ctrlKey || e.shiftKey || !scroll()) return;
    e.preventDefault();
    const step = e.deltaMode === 1 ? 1 : e.deltaMode === 2 ? 10 : 1 / 24;
    rest += e.deltaY * step;
    for (let n = 0; Math.abs(rest) >= 1 && n < 20; n++) {
      const down = rest > 0;
      rest -= down ? 1 : -1;
      scroll(down ? 1 : -1, at(e), mods(e));
    }
    rest %= 1;
  }, { passive: false });
  let y0 = null;
  el.addEventListener('touchstart', (e) => { y0 = e.touches.length === 1 && scroll() ? e.touches[0].clientY : null; }, { passive: true });
  el.addEventListener('touchmove', (e) => {
    if (y0 === null || e.touches.length !== 1 || !scroll()) return;
    e.preventDefault();
    const t = e.touches[0];
    for (let n = 0; Math.abs(t.clientY - y0) >= 24 && n < 10; n++) {
      const down = t.clientY < y0;
      y0 += down ? -24 : 24;
      scroll(down ? 1 : -1, at(t), '');
    }
  }, { passive: false });
}
