package copymode

import (
	"context"

	"github.com/longterm-dev/longterm/render/view/page"
)

// Rows of history that are fetched at once.
const (
	tailRows  = 1000
	olderRows = 5000
)

// Scroll scrolls by a number of rows. At the newest row it returns to the live screen.
func (m *Mode) Scroll(by int) {
	if m.endsOnOutput { // what was selected on the live screen stays only as long as that is shown
		m.endsOnOutput, m.sel = false, nil
	}
	m.scroll(by)
	if (by > 0 || m.history == nil) && m.idle() {
		m.Leave()
		return
	}
	m.changed = true
	m.Fetch(nil)
}

// Fetch loads history if the shown rows are near the page's start, or all of it during a search. then runs when rows
// have arrived.
func (m *Mode) Fetch(then func()) {
	near := m.top-m.page.First < 2*m.height
	switch {
	case m.fetching && then != nil: // the pending fetch may bring it
		m.waiting = append(m.waiting, then)
	case m.history == nil || m.fetching:
	case !m.loaded:
		m.fetching = true
		m.host.RunAsync(func(ctx context.Context) func() {
			pg, err := m.history.Tail(ctx, m.session, tailRows)
			return m.onFetched(err, func() { m.prependTail(pg) }, then)
		})
	case m.page.First > 0 && (near || m.search != nil || then != nil):
		m.fetching = true
		first := m.page.First
		m.host.RunAsync(func(ctx context.Context) func() {
			lines, err := m.history.Older(ctx, m.session, first, olderRows)
			return m.onFetched(err, func() {
				if len(lines) == 0 { // forgotten since the request
					m.page.First = 0
				}
				m.prependOlder(lines)
			}, then)
		})
	}
}

// onFetched returns the function that adds fetched rows, unless copy mode has ended.
func (m *Mode) onFetched(err error, take, then func()) func() {
	return func() {
		if m.ended {
			return
		}
		if err != nil {
			m.fetching = false
			m.host.ShowMessage("no history: " + err.Error())
			return
		}
		take()
		m.changed = true
		waiting := m.waiting
		m.waiting = nil
		defer func() {
			for _, f := range waiting {
				f()
			}
		}()
		if m.idle() && then == nil { // no history available
			m.Leave()
			return
		}
		if then != nil {
			then()
		}
		m.Fetch(nil)
	}
}

// withCommands runs f once the places of commands are known.
func (m *Mode) withCommands(f func()) {
	if m.placesKnown || m.history == nil {
		f()
		return
	}
	m.host.RunAsync(func(ctx context.Context) func() {
		list, err := m.history.Commands(ctx, m.session)
		return func() {
			if m.ended {
				return
			}
			if err != nil {
				m.host.ShowMessage("commands not loaded: " + err.Error())
				return
			}
			m.placesKnown, m.commands = true, list
			m.places = page.Commands(&m.page, list)
			f()
			m.changed = true
		}
	})
}

// StepCommand moves to the previous (-1) or next (1) command, loading history as needed.
func (m *Mode) StepCommand(by int) {
	again := func() { m.StepCommand(by) }
	switch {
	case !m.loaded && m.history != nil:
		m.Fetch(again)
	case !m.placesKnown && m.history != nil:
		m.withCommands(again)
	case m.command(by):
		m.changed = true
	case by < 0 && m.page.First > 0 && len(m.places) < len(m.commands):
		m.Fetch(again)
	default:
		m.host.ShowMessage("no command " + map[int]string{-1: "before", 1: "after"}[by] + " this one")
	}
}

// ToCommand moves to a command by its number, loading history as needed.
func (m *Mode) ToCommand(n int) {
	again := func() { m.ToCommand(n) }
	if !m.loaded && m.history != nil {
		m.Fetch(again)
		return
	}
	if !m.placesKnown && m.history != nil {
		m.withCommands(again)
		return
	}
	for _, at := range m.places {
		if at.N == n {
			m.cursor = page.Pos{Row: at.Row}
			m.top = min(max(at.Row-1, m.page.First), m.bottom())
			m.changed = true
			return
		}
	}
	if m.page.First > 0 && len(m.places) < len(m.commands) {
		m.Fetch(again)
		return
	}
	m.host.ShowMessage("line of this command no longer in the scrollback")
}

// CopyOutput copies the output of a session's command; 0 is the newest one.
func CopyOutput(host Host, history History, session string, command int) {
	if history == nil {
		return
	}
	host.RunAsync(func(ctx context.Context) func() {
		text, err := history.Output(ctx, session, command)
		return func() {
			if err != nil {
				host.ShowMessage("not copied: " + err.Error())
				return
			}
			host.Copy(text)
		}
	})
}

// CopyOutput copies the output of the command at the cursor.
func (m *Mode) CopyOutput() {
	if m.history != nil {
		m.withCommands(func() { CopyOutput(m.host, m.history, m.session, m.commandAt()) })
	}
}

// CopySelection copies the selected text.
func (m *Mode) CopySelection() {
	if m.sel == nil {
		return
	}
	if text := m.sel.Text(&m.page); text != "" || !m.sel.Open { // the mark may be where the cursor is
		m.host.Copy(text)
	}
}
