// Says what this browser lacks; written so that every browser can read it.
(function () {
  var lacks = [];
  if (!('noModule' in document.createElement('script'))) lacks.push('JavaScript modules');
  if (typeof WebSocket === 'undefined') lacks.push('WebSocket');
  if (!Array.prototype.at || !Object.hasOwn) lacks.push('ES2022');
  if (typeof ResizeObserver === 'undefined' || typeof fetch === 'undefined') lacks.push('fetch or ResizeObserver');
  try { localStorage.getItem('x'); } catch (e) { lacks.push('storage for this page'); }
  if (!lacks.length) return;
  var p = document.getElementById('lacks');
  p.textContent = 'This browser lacks ' + lacks.join(', ') + '. Use Chrome 94, Firefox 93, Safari 16.4 or later.';
  p.hidden = false;
})();
