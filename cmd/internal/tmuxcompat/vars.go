//go:build unix

package tmuxcompat

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/sys"
)

// historyLimit is tmux's default for a pane; longterm has its own limits.
const historyLimit = 2000

// subject is the pane that a format describes. Its screen is read when a variable first needs it.
type subject struct {
	*command
	p       *pane
	window  []*pane
	session []*pane
	screen  *render.Screen
}

// subjectOf returns the subject of a format: a pane with its window and session.
func (x *command) subjectOf(p *pane) *subject {
	return &subject{command: x, p: p, window: x.inWindow(p.Window), session: x.inSession(p.Session)}
}

// format expands a format with the values of a pane.
func (x *command) format(format string, p *pane) string {
	if p == nil {
		return expand(format, func(string) string { return "" })
	}
	return expand(format, x.subjectOf(p).value)
}

// value returns a variable's value. An unknown one is empty, as in tmux.
func (s *subject) value(name string) string {
	if rest, ok := strings.CutPrefix(name, loop); ok {
		return s.each(rest[0], rest[1:])
	}
	if f, ok := variables[name]; ok {
		return f(s)
	}
	return s.option(s.p, name)
}

// maxLoops limits the depth of nested loops, each of which visits all items.
const maxLoops = 3

// each expands a format for each session, window or pane. The part after a comma is for the active one.
func (s *subject) each(kind byte, format string) string {
	if s.loops++; s.loops > maxLoops {
		return ""
	}
	defer func() { s.loops-- }()
	all := s.window
	switch kind {
	case 'S':
		all = s.sessions()
	case 'W':
		all = windows(s.session)
	}
	formats := splitParts(format)
	var out strings.Builder
	for _, p := range all {
		is := p == activeIn(s.window)
		switch kind {
		case 'S':
			p = s.activeOf(p.Session)
			is = p.Session == s.p.Session
		case 'W':
			p = activeIn(s.inWindow(p.Window))
			is = p.Window == s.activeOf(s.p.Session).Window
		}
		f := formats[0]
		if is && len(formats) > 1 {
			f = formats[1]
		}
		out.WriteString(s.format(f, p))
	}
	return out.String()
}

func constantValue(text string) func(*subject) string { return func(*subject) string { return text } }

// variables maps the format variables of tmux's manual to functions of a pane.
var variables = map[string]func(*subject) string{
	"session_id":               func(s *subject) string { return "$" + strconv.Itoa(s.p.SessionID) },
	"session_name":             func(s *subject) string { return s.p.Session },
	"session_windows":          func(s *subject) string { return strconv.Itoa(len(windows(s.session))) },
	"session_created":          func(s *subject) string { return strconv.FormatInt(s.p.Created, 10) },
	"session_attached":         func(s *subject) string { return bit(slices.ContainsFunc(s.session, isShown)) },
	"session_path":             func(s *subject) string { return s.session[0].s.Cwd },
	"session_group":            constantValue(""),
	"session_grouped":          constantValue("0"),
	"session_many_attached":    constantValue("0"),
	"window_id":                func(s *subject) string { return "@" + strconv.Itoa(s.p.Window) },
	"window_index":             func(s *subject) string { return strconv.Itoa(s.p.Index) },
	"window_name":              func(s *subject) string { return s.windowName(s.p) },
	"window_panes":             func(s *subject) string { return strconv.Itoa(len(s.window)) },
	"window_width":             func(s *subject) string { return strconv.Itoa(s.p.Cols) },
	"window_height":            func(s *subject) string { return strconv.Itoa(s.p.Rows) },
	"window_active":            func(s *subject) string { return bit(s.activeOf(s.p.Session).Window == s.p.Window) },
	"window_flags":             (*subject).flags,
	"window_raw_flags":         (*subject).flags,
	"window_zoomed_flag":       func(s *subject) string { return bit(s.splitOf(s.p.Window).Zoom > 0) },
	"window_last_flag":         func(s *subject) string { return bit(strings.HasPrefix(s.flags(), "-")) },
	"window_layout":            (*subject).layout,
	"window_visible_layout":    (*subject).visible,
	"window_start_flag":        func(s *subject) string { return bit(windows(s.session)[0].Window == s.p.Window) },
	"window_end_flag":          func(s *subject) string { w := windows(s.session); return bit(w[len(w)-1].Window == s.p.Window) },
	"pane_left":                side(0),
	"pane_top":                 side(1),
	"pane_right":               side(2),
	"pane_bottom":              side(3),
	"pane_at_left":             atEdge(0),
	"pane_at_top":              atEdge(1),
	"pane_at_right":            atEdge(2),
	"pane_at_bottom":           atEdge(3),
	"pane_last":                func(s *subject) string { return bit(paneIn(s.window, "!") == s.p) },
	"pane_id":                  func(s *subject) string { return "%" + strconv.Itoa(s.p.Pane) },
	"pane_index":               func(s *subject) string { return strconv.Itoa(slices.Index(s.window, s.p)) },
	"pane_active":              func(s *subject) string { return bit(activeIn(s.window) == s.p) },
	"pane_pid":                 func(s *subject) string { return strconv.Itoa(s.p.s.PID) },
	"pane_tty":                 func(s *subject) string { return terminalOf(s.p.s.PID) },
	"pane_current_command":     func(s *subject) string { return currentCommand(s.p) },
	"pane_current_path":        func(s *subject) string { return s.p.s.Cwd },
	"pane_start_command":       func(s *subject) string { return s.p.Command },
	"pane_start_path":          func(s *subject) string { return s.p.s.Cwd },
	"pane_title":               func(s *subject) string { return cmp.Or(s.p.Title, s.p.s.Title, host()) },
	"pane_width":               func(s *subject) string { return strconv.Itoa(s.p.s.Cols) },
	"pane_height":              func(s *subject) string { return strconv.Itoa(s.p.s.Rows) },
	"pane_pipe":                func(s *subject) string { return bit(s.isPiped(s.p)) },
	"pane_dead":                constantValue("0"),
	"pane_in_mode":             constantValue("0"),
	"pane_input_off":           constantValue("0"),
	"pane_synchronized":        constantValue("0"),
	"pane_marked":              constantValue("0"),
	"alternate_on":             func(s *subject) string { return bit(s.p.s.Alt) },
	"cursor_x":                 func(s *subject) string { return strconv.Itoa(s.readScreen().Cursor.X) },
	"cursor_y":                 func(s *subject) string { return strconv.Itoa(s.readScreen().Cursor.Y) },
	"cursor_flag":              func(s *subject) string { return bit(s.readScreen().Cursor.Visible) },
	"history_size":             func(s *subject) string { return strconv.Itoa(s.history()) },
	"history_limit":            constantValue(strconv.Itoa(historyLimit)),
	"history_bytes":            func(s *subject) string { return strconv.FormatUint(s.p.s.Output.End-s.p.s.Output.Start, 10) },
	"host":                     func(*subject) string { return host() },
	"host_short":               func(*subject) string { short, _, _ := strings.Cut(host(), "."); return short },
	"pid":                      func(s *subject) string { return strconv.Itoa(s.daemonPID()) },
	"socket_path":              func(s *subject) string { return s.socketPath() },
	"version":                  constantValue(strings.TrimPrefix(Version, "tmux ")),
	"longterm_session":         func(s *subject) string { return s.p.s.ID },
	"longterm_name":            func(s *subject) string { return s.p.s.Name },
	"window_active_clients":    constantValue("0"),
	"session_activity":         func(s *subject) string { return strconv.FormatInt(s.p.Created, 10) },
	"session_last_attached":    constantValue(""),
	"window_linked":            constantValue("0"),
	"window_linked_sessions":   constantValue("1"),
	"window_bell_flag":         constantValue("0"),
	"window_activity_flag":     constantValue("0"),
	"window_silence_flag":      constantValue("0"),
	"window_bigger":            constantValue("0"),
	"synchronized_output_flag": constantValue("0"),
	"window_marked_flag":       constantValue("0"),
	"active_window_index":      func(s *subject) string { return strconv.Itoa(s.activeOf(s.p.Session).Index) },
	"last_window_index":        func(s *subject) string { w := windows(s.session); return strconv.Itoa(w[len(w)-1].Index) },
	"pane_fg":                  constantValue("default"),
	"pane_bg":                  constantValue("default"),
	"session_alerts":           constantValue(""),
	"uid":                      func(*subject) string { return strconv.Itoa(os.Getuid()) },
	"command":                  func(s *subject) string { return s.name },
}

// isShown reports whether a client shows a pane.
func isShown(p *pane) bool { return p.s.Clients > 0 }

func (s *subject) flags() string {
	flags := ""
	active := s.activeOf(s.p.Session)
	switch {
	case active.Window == s.p.Window:
		flags = "*"
	case s.isLast(active):
		flags = "-"
	}
	if s.splitOf(s.p.Window).Zoom > 0 {
		flags += "Z"
	}
	return flags
}

// isLast reports whether the window was its session's active one before the current one.
func (s *subject) isLast(active *pane) bool {
	others := slices.DeleteFunc(slices.Clone(s.session), func(p *pane) bool { return p.Window == active.Window })
	last := newest(others, s.windowUsed)
	return last != nil && last.Window == s.p.Window && s.windowUsed(last) > 0
}

// windowName returns a window's name, or the program in its active pane.
func (c *call) windowName(p *pane) string {
	if p.Name != "" {
		return p.Name
	}
	return currentCommand(activeIn(c.inWindow(p.Window)))
}

// cell returns a pane's place in its window. A zoomed pane fills it.
func (s *subject) cell() *cell {
	d := s.splitOf(s.p.Window)
	if d.Zoom-1 == s.p.Pane {
		return &cell{w: d.root.w, h: d.root.h, pane: s.p.Pane}
	}
	return d.find(s.p.Pane)
}

// side returns a variable for the first or last column or row of a pane.
func side(which int) func(*subject) string {
	return func(s *subject) string {
		c := s.cell()
		return strconv.Itoa([]int{c.x, c.y, c.x + c.w - 1, c.y + c.h - 1}[which])
	}
}

// atEdge returns a variable for whether a pane touches an edge of its window.
func atEdge(which int) func(*subject) string {
	return func(s *subject) string {
		c, w := s.cell(), s.splitOf(s.p.Window).root
		return bit([]bool{c.x == 0, c.y == 0, c.x+c.w == w.w, c.y+c.h == w.h}[which])
	}
}

// visible returns the layout on the screen.
func (s *subject) visible() string {
	if d := s.splitOf(s.p.Window); d.Zoom > 0 {
		return addChecksum((&cell{w: d.root.w, h: d.root.h, pane: d.Zoom - 1}).String())
	}
	return s.layout()
}

func (s *subject) layout() string { return addChecksum(s.splitOf(s.p.Window).root.String()) }

// readScreen returns the pane's screen, which it reads once. On failure it is empty.
func (s *subject) readScreen() *render.Screen {
	if s.screen == nil {
		screen, err := s.daemon.Session(s.p.s.ID).Screen(s.ctx, client.ScreenQuery{Scrollback: "-1:"})
		if err != nil {
			s.screen = &render.Screen{}
			return s.screen
		}
		s.screen = &screen.Screen
	}
	return s.screen
}

// history returns the number of lines above a pane's screen.
func (s *subject) history() int {
	if n := len(s.readScreen().Scrollback); n > 0 {
		return s.readScreen().Scrollback[n-1].Row + 1
	}
	return 0
}

func (c *command) daemonPID() int {
	if c.pid == 0 {
		if st, err := c.daemon.Status(c.ctx); err == nil {
			c.pid = st.KeeperPID
		}
	}
	return c.pid
}

func host() string {
	name, _ := os.Hostname() // it may have none
	return name
}

// currentCommand returns the name of a pane's foreground process.
func currentCommand(p *pane) string {
	pid := p.s.PID
	if st, err := sys.ReadStat(pid); err == nil {
		name := string(st.Name)
		if front, err := sys.ReadStat(st.Foreground); err == nil && st.Foreground > 0 {
			name = string(front.Name)
		}
		return name
	}
	if len(p.s.Argv) > 0 {
		return strings.TrimPrefix(filepath.Base(p.s.Argv[0]), "-")
	}
	return ""
}

// terminalOf returns the terminal device of a process's standard streams, or "".
func terminalOf(pid int) string {
	for fd := range 3 {
		if target, err := sys.DescriptorTarget(pid, fd); err == nil && strings.HasPrefix(target, "/dev/pts/") {
			return target
		}
	}
	return ""
}
