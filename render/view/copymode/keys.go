package copymode

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/page"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Key handles a key. It returns false for keys meant for the session. Without a cursor, any text key ends copy mode and
// goes to the session.
func (m *Mode) Key(keys *keymap.Map, k input.Key) (handled bool) {
	if !m.hasCursor {
		switch k.Code {
		case input.KeyPageUp:
			m.Scroll(-m.height)
		case input.KeyPageDown:
			m.Scroll(m.height)
		case input.KeyEscape:
			m.Leave()
		default:
			m.Leave()
			return false
		}
		return true
	}
	if m.jump.waiting {
		m.jumpKey(k)
		m.changed = true
		return true
	}
	a := keys.InScroll(k)
	if m.collectCount(k, a) {
		m.changed = true
		return true
	}
	if a == "scroll-copy" && m.sel == nil {
		m.host.ShowMessage("no selection; " + selectLabel(keys) + " selects")
		m.count, m.changed = 0, true
		return true
	}
	f, ok := Actions[a]
	times := m.times(a)
	m.jump.times, m.count = times, 0
	if slices.Contains(jumps, a) {
		times = 1 // it goes as often by itself, as a place that is not there moves nothing
	}
	if !ok {
		m.host.ShowMessage("copy mode: " + keys.ScrollLabel("scroll-leave") + " leaves it, " + keys.Chord("help") + " lists the keys")
		return true
	}
	m.repeat(f, times)
	if !m.ended {
		m.changed = true
		m.Fetch(nil)
	}
	return true
}

// maxCount limits the repetitions of a motion.
const maxCount = 9999

// collectCount collects the digits of a count for the next motion, as in vi. A key with an action is not a digit; 0 is one
// only after others.
func (m *Mode) collectCount(k input.Key, a keymap.Action) bool {
	if k.Mods != 0 || k.Code < '0' || k.Code > '9' || m.count == 0 && (a != "" || k.Code == '0') {
		return false
	}
	m.count = min(m.count*10+int(k.Code-'0'), maxCount)
	return true
}

// uncounted lists the actions that ignore a count.
var uncounted = []keymap.Action{
	"scroll-top", "scroll-bottom", "scroll-screen-top", "scroll-screen-middle", "scroll-screen-bottom", "scroll-text-begin", "scroll-home", "scroll-line-end", "scroll-line-behind",
	"scroll-other-end", "scroll-search", "scroll-mark", "scroll-select", "scroll-select-rows", "scroll-select-block", "scroll-copy", "scroll-copy-line-end",
	"scroll-copy-output", "scroll-leave", "scroll-unselect",
}

// times returns how often to repeat an action.
func (m *Mode) times(a keymap.Action) int {
	if slices.Contains(uncounted, a) {
		return 1
	}
	return max(1, m.count)
}

// repeat runs an action several times. At the oldest loaded row the remaining repetitions wait for older rows.
func (m *Mode) repeat(f func(*Mode), times int) {
	for ; times > 0 && !m.ended; times-- {
		f(m)
		if m.loaded && m.history != nil && m.page.First > 0 && m.cursor.Row == m.page.First && times > 1 {
			m.Fetch(func() { m.repeat(f, times-1) })
			return
		}
	}
}

// move returns the action of a motion.
func move(to func(m *Mode) page.Pos) func(*Mode) { return func(m *Mode) { m.move(to(m)) } }

// moveBy returns the motion by a number of rows and columns.
func moveBy(rows, cols int) func(m *Mode) page.Pos {
	return func(m *Mode) page.Pos {
		if rows < 0 && m.cursor.Row+rows < m.page.First && !m.loaded {
			m.owedRows -= m.cursor.Row + rows - m.page.First
		}
		return page.Pos{Row: m.cursor.Row + rows, Col: m.cursor.Col + cols}
	}
}

// PageUp scrolls up by a page and moves the cursor with it.
func (m *Mode) PageUp() {
	m.pages(-1, 1)
	m.changed = true
}

// pages scrolls by a fraction of a page and moves the cursor with it.
func (m *Mode) pages(numerator, denominator int) {
	n := m.height * numerator / denominator
	m.scroll(n)
	m.move(page.Pos{Row: m.cursor.Row + n, Col: m.cursor.Col})
}

func pages(numerator, denominator int) func(*Mode) {
	return func(m *Mode) { m.pages(numerator, denominator) }
}

func (m *Mode) lineEnd() page.Pos {
	at := page.Pos{Row: m.cursor.Row}
	if line := m.page.Line(at.Row); line != nil && len(line.Spans) > 0 {
		last := &line.Spans[len(line.Spans)-1]
		at.Col = last.Col + last.Width - 1
	}
	return at
}

// lineBehind returns the position after the row's end.
func (m *Mode) lineBehind() page.Pos {
	at := m.lineEnd()
	if line := m.page.Line(at.Row); line != nil && len(line.Spans) > 0 {
		at.Col++
	}
	return at
}

// textBegin returns the start of the row's text, after its indentation.
func (m *Mode) textBegin() page.Pos {
	at := page.Pos{Row: m.cursor.Row}
	if line := m.page.Line(at.Row); line != nil {
		at.Col = len(line.Text) - len(strings.TrimLeft(line.Text, " "))
	}
	return at
}

// scrollView scrolls. The cursor keeps its position while it is visible, and a selection extends to it.
func (m *Mode) scrollView(by int) {
	m.scroll(by)
	m.move(m.cursor)
}

// copyLineEnd copies the row from the cursor on.
func (m *Mode) copyLineEnd() {
	m.sel = &page.Selection{Anchor: m.cursor, Head: m.lineEnd(), Unit: page.Characters}
	m.copyAndLeave()
}

// Actions maps the actions of keymap.Scroll to functions.
var Actions map[keymap.Action]func(*Mode)

func init() { // a table that its own functions refer to
	Actions = map[keymap.Action]func(*Mode){
		"scroll-up":            move(moveBy(-1, 0)),
		"scroll-down":          move(moveBy(1, 0)),
		"scroll-left":          move(moveBy(0, -1)),
		"scroll-right":         move(moveBy(0, 1)),
		"scroll-word":          move(func(m *Mode) page.Pos { return m.page.NextWord(m.cursor, page.Word) }),
		"scroll-word-back":     move(func(m *Mode) page.Pos { return m.page.WordBefore(m.cursor, page.Word) }),
		"scroll-word-end":      move(func(m *Mode) page.Pos { return m.page.WordEnd(m.cursor, page.Word) }),
		"scroll-word-behind":   move(func(m *Mode) page.Pos { return m.page.AfterWord(m.cursor, page.Word) }),
		"scroll-big-word":      move(func(m *Mode) page.Pos { return m.page.NextWord(m.cursor, page.BigWord) }),
		"scroll-big-word-back": move(func(m *Mode) page.Pos { return m.page.WordBefore(m.cursor, page.BigWord) }),
		"scroll-big-word-end":  move(func(m *Mode) page.Pos { return m.page.WordEnd(m.cursor, page.BigWord) }),
		"scroll-jump":          func(m *Mode) { m.askJump(1, false) },
		"scroll-jump-back":     func(m *Mode) { m.askJump(-1, false) },
		"scroll-jump-to":       func(m *Mode) { m.askJump(1, true) },
		"scroll-jump-to-back":  func(m *Mode) { m.askJump(-1, true) },
		"scroll-jump-again":    func(m *Mode) { m.jumpTo(m.jump.direction) },
		"scroll-jump-reverse":  func(m *Mode) { m.jumpTo(-m.jump.direction) },
		"scroll-text-begin":    move((*Mode).textBegin),
		"scroll-home":          move(func(m *Mode) page.Pos { return page.Pos{Row: m.cursor.Row} }),
		"scroll-line-end":      move((*Mode).lineEnd),
		"scroll-line-behind":   move((*Mode).lineBehind),
		"scroll-page-up":       pages(-1, 1), "scroll-page-down": pages(1, 1),
		"scroll-half-up": pages(-1, 2), "scroll-half-down": pages(1, 2),
		"scroll-view-up":       func(m *Mode) { m.scrollView(-1) },
		"scroll-view-down":     func(m *Mode) { m.scrollView(1) },
		"scroll-top":           (*Mode).moveToOldest,
		"scroll-bottom":        move(func(m *Mode) page.Pos { return page.Pos{Row: m.page.End() - 1} }),
		"scroll-screen-top":    move(func(m *Mode) page.Pos { return page.Pos{Row: m.top, Col: m.cursor.Col} }),
		"scroll-screen-middle": move(func(m *Mode) page.Pos { return page.Pos{Row: m.top + m.height/2, Col: m.cursor.Col} }),
		"scroll-screen-bottom": move(func(m *Mode) page.Pos { return page.Pos{Row: m.top + m.height - 1, Col: m.cursor.Col} }),
		"scroll-other-end":     (*Mode).moveToOtherEnd,
		"scroll-search":        (*Mode).Search,
		"scroll-match-up":      func(m *Mode) { m.stepMatch(-1) },
		"scroll-match-down":    func(m *Mode) { m.stepMatch(1) },
		"scroll-command-up":    func(m *Mode) { m.StepCommand(-1) },
		"scroll-command-down":  func(m *Mode) { m.StepCommand(1) },
		"scroll-mark":          (*Mode).mark,
		"scroll-select":        func(m *Mode) { m.toggleSelection(page.Characters) },
		"scroll-select-rows":   func(m *Mode) { m.toggleSelection(page.Rows) },
		"scroll-select-block":  func(m *Mode) { m.toggleSelection(page.Block) },
		"scroll-copy":          (*Mode).copyAndLeave,
		"scroll-copy-line-end": (*Mode).copyLineEnd,
		"scroll-copy-output":   (*Mode).CopyOutput,
		"scroll-leave":         (*Mode).Leave,
		"scroll-unselect":      (*Mode).unselect,
	}
}

// moveToOldest moves to the oldest row, after loading all history.
func (m *Mode) moveToOldest() {
	m.move(page.Pos{Row: m.page.First})
	if m.history != nil && (!m.loaded || m.page.First > 0) {
		m.Fetch(m.moveToOldest)
	}
}

// stepMatch moves to another match.
func (m *Mode) stepMatch(by int) {
	if m.search == nil {
		m.Search()
		return
	}
	if !m.step(by) {
		m.host.ShowMessage("not found: " + m.search.Pattern)
	}
}

// moveToOtherEnd moves the cursor to the other end of the selection.
func (m *Mode) moveToOtherEnd() {
	if m.sel == nil {
		m.host.ShowMessage("no selection")
		return
	}
	m.sel.Anchor, m.sel.Head = m.sel.Head, m.sel.Anchor
	m.cursor = m.sel.Head
	m.reveal(m.cursor.Row, false)
}

// unselect drops the selection, or ends copy mode without one.
func (m *Mode) unselect() {
	if m.sel != nil {
		m.sel = nil
		return
	}
	m.Leave()
}

func (m *Mode) copyAndLeave() {
	m.CopySelection()
	m.Leave()
}

// Search prompts for a pattern and moves to the matches while it is typed.
func (m *Mode) Search() {
	m.UseKeys()
	m.origin, m.originTop = m.cursor, m.top
	ask := &overlays.Prompt{Label: "search: ", Search: true}
	ask.Change = func(text string, isRegexp bool) {
		if m.ended {
			return
		}
		m.cursor = m.page.Clamp(m.origin)
		m.find(text, isRegexp, m.origin)
		m.changed = true
		m.Fetch(nil)
	}
	ask.Note = func() string {
		switch s := m.search; {
		case s == nil || s.Pattern == "":
			return ""
		case s.Err != nil:
			return s.Err.Error()
		case m.page.First > 0:
			return s.Count() + " …"
		default:
			return s.Count()
		}
	}
	ask.Done = func(string) {
		if s := m.search; s != nil && len(s.Matches) == 0 && s.Err == nil && s.Pattern != "" {
			m.host.ShowMessage("not found: " + s.Pattern)
		}
	}
	ask.Cancel = func() {
		m.search = nil
		m.cursor, m.top = m.page.Clamp(m.origin), max(min(m.originTop, m.bottom()), m.page.First)
		m.changed = true
	}
	m.Fetch(nil)
	m.host.Ask(ask)
}
