//go:build unix

package tmuxcompat

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// What a target names: tmux's "Commands" section of its manual.

// current returns the default pane: the caller's own, else the one used last.
func (x *command) current() *pane {
	for _, e := range x.Env {
		if id, ok := strings.CutPrefix(e, "TMUX_PANE=%"); ok {
			if n, err := strconv.Atoi(id); err == nil {
				if p := x.byPane(n); p != nil {
					return p
				}
			}
		}
	}
	if p := newest(x.panes, func(p *pane) int { return max(x.windowUsed(p), p.PaneUsed) }); p != nil {
		return x.activeOf(p.Session)
	}
	return nil
}

func (x *command) byPane(id int) *pane {
	i := slices.IndexFunc(x.panes, func(p *pane) bool { return p.Pane == id })
	if i < 0 {
		return nil
	}
	return x.panes[i]
}

// number parses an id after its sign, or returns -1.
func number(s, sign string) int {
	rest, ok := strings.CutPrefix(s, sign)
	if n, err := strconv.Atoi(rest); ok && err == nil && n >= 0 {
		return n
	}
	return -1
}

// session returns the name of a target's session.
func (x *command) session(target string) (string, error) {
	name, _, _ := strings.Cut(target, ":")
	if target == "" {
		if p := x.current(); p != nil {
			return p.Session, nil
		}
		return "", fail("no current session")
	}
	if name == "" {
		return x.session("")
	}
	if strings.HasPrefix(name, "%") || strings.HasPrefix(name, "@") {
		p, err := x.pane(target)
		if err != nil {
			return "", err
		}
		return p.Session, nil
	}
	exact := strings.HasPrefix(name, "=")
	bare := strings.TrimPrefix(name, "=")
	var begins, matches []string
	for _, p := range x.sessions() {
		matched, _ := path.Match(bare, p.Session) // an invalid pattern matches nothing
		switch {
		case p.Session == bare, number(name, "$") == p.SessionID && name != "$":
			return p.Session, nil
		case !exact && strings.HasPrefix(p.Session, bare):
			begins = append(begins, p.Session)
		case !exact && matched:
			matches = append(matches, p.Session)
		}
	}
	if len(begins) == 1 {
		return begins[0], nil
	}
	if len(begins) == 0 && len(matches) == 1 {
		return matches[0], nil
	}
	return "", fail("can't find session: %s", bare)
}

// window returns the panes of a target's window.
func (x *command) window(target string) ([]*pane, error) {
	if id := number(target, "%"); id >= 0 {
		p, err := x.pane(target)
		if err != nil {
			return nil, err
		}
		return x.inWindow(p.Window), nil
	}
	session, rest, named := strings.Cut(target, ":")
	if !named {
		if target == "" {
			p := x.current()
			if p == nil {
				return nil, fail("no current window")
			}
			return x.inWindow(p.Window), nil
		}
		// A window of this session, else a session.
		if id := number(target, "@"); id >= 0 {
			if panes := x.inWindow(id); len(panes) > 0 {
				return panes, nil
			}
			return nil, fail("can't find window: %s", target)
		}
		if p := x.current(); p != nil && !strings.HasPrefix(target, "$") {
			if panes := x.windowIn(p.Session, target); panes != nil {
				return panes, nil
			}
		}
		name, err := x.session(target)
		if err != nil {
			return nil, fail("can't find window: %s", target)
		}
		return x.inWindow(x.activeOf(name).Window), nil
	}
	name, err := x.session(session)
	if err != nil {
		return nil, err
	}
	if i := strings.LastIndexByte(rest, '.'); i >= 0 && x.windowIn(name, rest) == nil {
		rest = rest[:i]
	}
	if rest == "" {
		return x.inWindow(x.activeOf(name).Window), nil
	}
	if panes := x.windowIn(name, rest); panes != nil {
		return panes, nil
	}
	return nil, fail("can't find window: %s", strings.TrimPrefix(rest, "="))
}

// windowIn returns the panes of a session's window by index, id, name or sign, or nil.
func (x *command) windowIn(session, word string) []*pane {
	all := windows(x.inSession(session))
	slices.SortFunc(all, func(a, b *pane) int { return a.Index - b.Index })
	active := x.activeOf(session)
	here := slices.IndexFunc(all, func(p *pane) bool { return active != nil && p.Window == active.Window })
	if here < 0 {
		return nil
	}
	pick := func(p *pane) []*pane { return x.inWindow(p.Window) }
	switch word {
	case "^", "{start}":
		return pick(all[0])
	case "$", "{end}":
		return pick(all[len(all)-1])
	case "!", "{last}":
		others := slices.DeleteFunc(slices.Clone(all), func(p *pane) bool { return p.Window == active.Window })
		if len(others) == 0 {
			return nil
		}
		return pick(newest(others, x.windowUsed))
	}
	if n := parseOffset(word); n != 0 {
		return pick(all[wrapIndex(here+n, len(all))])
	}
	exact := strings.HasPrefix(word, "=")
	word = strings.TrimPrefix(word, "=")
	for _, p := range all {
		if number(word, "@") == p.Window && strings.HasPrefix(word, "@") || strconv.Itoa(p.Index) == word {
			return pick(p)
		}
	}
	var begins []*pane
	for _, p := range all {
		name := x.windowName(p)
		if name == word {
			return pick(p)
		}
		if !exact && strings.HasPrefix(name, word) {
			begins = append(begins, p)
		}
	}
	if len(begins) == 1 {
		return pick(begins[0])
	}
	return nil
}

// pane returns the pane of a target.
func (x *command) pane(target string) (*pane, error) {
	if strings.HasPrefix(target, "%") {
		if p := x.byPane(number(target, "%")); p != nil {
			return p, nil
		}
		return nil, fail("can't find pane: %s", target)
	}
	if target == "" {
		if p := x.current(); p != nil {
			return p, nil
		}
		return nil, fail("no current pane")
	}
	before, word, dotted := cutPane(target)
	if !dotted && !strings.Contains(target, ":") { // a pane of this window, else a window, else a session
		if p := x.current(); p != nil {
			if found := x.paneIn(x.inWindow(p.Window), target); found != nil {
				return found, nil
			}
		}
	}
	if !dotted {
		before = target
	}
	panes, err := x.window(before)
	if err != nil {
		if !strings.Contains(target, ":") && !dotted {
			return nil, fail("can't find pane: %s", target)
		}
		return nil, err
	}
	if !dotted || word == "" {
		return activeIn(panes), nil
	}
	if p := x.paneIn(panes, word); p != nil {
		return p, nil
	}
	return nil, fail("can't find pane: %s", word)
}

// cutPane splits a target into the window's part and the pane's word.
func cutPane(target string) (before, word string, ok bool) {
	i := strings.LastIndexByte(target, '.')
	if i < 0 || i < strings.IndexByte(target, ':') {
		return target, "", false
	}
	return target[:i], target[i+1:], true
}

// paneIn returns a window's pane by index, id or sign, or nil.
func paneIn(panes []*pane, word string) *pane {
	if len(panes) == 0 {
		return nil
	}
	active := activeIn(panes)
	here := slices.Index(panes, active)
	switch word {
	case "!", "{last}":
		return newest(slices.DeleteFunc(slices.Clone(panes), func(p *pane) bool { return p == active }), func(p *pane) int { return p.PaneUsed })
	}
	if n := parseOffset(word); n != 0 {
		return panes[wrapIndex(here+n, len(panes))]
	}
	for i, p := range panes {
		if strconv.Itoa(i) == word || number(word, "%") == p.Pane && word[0] == '%' {
			return p
		}
	}
	return nil
}

// parseOffset returns the offset of a word such as +2, - or {next}, or 0 for another word.
func parseOffset(word string) int {
	switch word {
	case "+", "{next}":
		return 1
	case "-", "{previous}":
		return -1
	}
	if n, err := strconv.Atoi(word); err == nil && (word[0] == '+' || word[0] == '-') {
		return n
	}
	return 0
}

// wrapIndex returns index i modulo n, which is never negative.
func wrapIndex(i, n int) int { return (i%n + n) % n }
