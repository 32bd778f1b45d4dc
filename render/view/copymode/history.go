package copymode

import (
	"context"

	"github.com/longterm-dev/longterm/render/view/page"
)

// History is fetched a piece at a time, in rows.
const (
	tailRows  = 1000
	olderRows = 5000
)

// Scroll moves what is shown by some rows; down to the newest one it is the live screen
// again.
func (m *Mode) Scroll(by int) {
	if m.passing { // what was selected on the live screen stays only as long as that is shown
		m.passing, m.sel = false, nil
	}
	m.scroll(by)
	if (by > 0 || m.history == nil) && m.idle() {
		m.Leave()
		return
	}
	m.changed = true
	m.Fetch(nil)
}

// Fetch loads history if what is shown comes near the page's beginning, or all of it
// while something is searched. then runs when rows have come.
func (m *Mode) Fetch(then func()) {
	near := m.top-m.page.First < 2*m.height
	switch {
	case m.asked && then != nil: // what comes may be it
		m.waiting = append(m.waiting, then)
	case m.history == nil || m.asked:
	case !m.loaded:
		m.asked = true
		m.host.Beside(func(ctx context.Context) func() {
			pg, err := m.history.Tail(ctx, m.session, tailRows)
			return m.arrived(err, func() { m.tail(pg) }, then)
		})
	case m.page.First > 0 && (near || m.search != nil || then != nil):
		m.asked = true
		first := m.page.First
		m.host.Beside(func(ctx context.Context) func() {
			lines, err := m.history.Older(ctx, m.session, first, olderRows)
			return m.arrived(err, func() {
				if len(lines) == 0 { // forgotten meanwhile
					m.page.First = 0
				}
				m.older(lines)
			}, then)
		})
	}
}

// arrived takes rows in, unless the person has left.
func (m *Mode) arrived(err error, take, then func()) func() {
	return func() {
		if m.left {
			return
		}
		if err != nil {
			m.asked = false
			m.host.Say("no history: " + err.Error())
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
		if m.idle() && then == nil { // there is no history
			m.Leave()
			return
		}
		if then != nil {
			then()
		}
		m.Fetch(nil)
	}
}

// withCommands runs f once it is known where commands were typed.
func (m *Mode) withCommands(f func()) {
	if m.typed || m.history == nil {
		f()
		return
	}
	m.host.Beside(func(ctx context.Context) func() {
		list, err := m.history.Commands(ctx, m.session)
		return func() {
			if m.left {
				return
			}
			if err != nil {
				m.host.Say("its commands are not known: " + err.Error())
				return
			}
			m.typed, m.commands = true, list
			m.places = page.Commands(&m.page, list)
			f()
			m.changed = true
		}
	})
}

// StepCommand goes to the command before (-1) or after (1), loading history as needed.
func (m *Mode) StepCommand(by int) {
	again := func() { m.StepCommand(by) }
	switch {
	case !m.loaded && m.history != nil:
		m.Fetch(again)
	case !m.typed && m.history != nil:
		m.withCommands(again)
	case m.command(by):
		m.changed = true
	case by < 0 && m.page.First > 0 && len(m.places) < len(m.commands):
		m.Fetch(again)
	default:
		m.host.Say("no command " + map[int]string{-1: "before", 1: "after"}[by] + " this one is known")
	}
}

// ToCommand goes to a command by its number, loading history as needed.
func (m *Mode) ToCommand(n int) {
	again := func() { m.ToCommand(n) }
	if !m.loaded && m.history != nil {
		m.Fetch(again)
		return
	}
	if !m.typed && m.history != nil {
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
	m.host.Say("where this command was typed cannot be seen any more")
}

// CopyOutput copies what a command of a session printed; 0 is the newest one.
func CopyOutput(host Host, history History, session string, command int) {
	if history == nil {
		return
	}
	host.Beside(func(ctx context.Context) func() {
		text, err := history.Output(ctx, session, command)
		return func() {
			if err != nil {
				host.Say("not copied: " + err.Error())
				return
			}
			host.Copy(text)
		}
	})
}

// CopyOutput copies what the command at the cursor printed.
func (m *Mode) CopyOutput() {
	if m.history != nil {
		m.withCommands(func() { CopyOutput(m.host, m.history, m.session, m.commandAt()) })
	}
}

// CopySelection copies what is selected.
func (m *Mode) CopySelection() {
	if m.sel == nil {
		return
	}
	if text := m.sel.Text(&m.page); text != "" || !m.sel.Open { // the mark may be where the cursor is
		m.host.Copy(text)
	}
}
