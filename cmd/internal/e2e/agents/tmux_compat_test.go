//go:build unix

package agents

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// both answer the same commands: tmux itself, and longterm under its name.
type both struct {
	t            *testing.T
	i            *e2e.Instance
	tmux, socket string
	env          []string // for both, such as the pane that a caller is in
}

func newBoth(t *testing.T) *both {
	t.Helper()
	tmux := tier.Path(t, "tmux")
	i := e2e.New(t)
	b := &both{t: t, i: i, tmux: tmux, socket: filepath.Join(i.Dir, "s")}
	t.Cleanup(func() { _ = b.real("kill-server").Run() })
	return b
}

func (b *both) environ() []string {
	var env []string
	for _, e := range b.i.Env {
		if !strings.HasPrefix(e, "TMUX") {
			env = append(env, e)
		}
	}
	return append(append(env, "SHELL=/bin/sh"), b.env...)
}

func (b *both) real(args ...string) *exec.Cmd {
	cmd := exec.Command(b.tmux, append([]string{"-f", "/dev/null", "-S", b.socket}, args...)...)
	cmd.Env, cmd.Dir = b.environ(), b.i.Dir
	return cmd
}

func (b *both) ours(args ...string) *exec.Cmd {
	cmd := exec.Command(b.i.Exe)
	cmd.Args = append([]string{"longterm", "tmux-compat", "-S", b.socket}, args...)
	cmd.Env, cmd.Dir = b.environ(), b.i.Dir
	return cmd
}

// outcome is a command's output and exit status.
func outcome(t *testing.T, cmd *exec.Cmd) (string, int) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exited, ok := err.(*exec.ExitError); ok {
		return out.String(), exited.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), 0
}

// own matches what differs between two servers: times, bytes, layouts, sockets.
var own = regexp.MustCompile(`\(created [^)]*\)|\d+ bytes|\[layout .*\] @|/\S*/(s|tmux-s)\b`)

func (b *both) compare(line string, args ...string) {
	b.t.Helper()
	if args == nil {
		args = words(line)
	}
	want, wantCode := outcome(b.t, b.real(args...))
	got, gotCode := outcome(b.t, b.ours(args...))
	want, got = own.ReplaceAllString(want, "…"), own.ReplaceAllString(got, "…")
	if want != got || wantCode != gotCode {
		b.t.Errorf("%s\ntmux:  %d %q\nours:  %d %q", line, wantCode, want, gotCode, got)
	}
}

// words returns a line's words; ' keeps blanks together.
func words(line string) (all []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}

// TestTmuxCompatIsAsTmux runs the same commands in tmux and in tmux-compat and compares output and exit status.
//
// FEATURES: R106
func TestTmuxCompatIsAsTmux(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	b := newBoth(t)
	if out, err := exec.Command(b.tmux, "-V").Output(); err != nil || !strings.HasPrefix(string(out), "tmux 3.3") {
		t.Skipf("its words are those of tmux 3.3: %s, %v", out, err)
	}
	// A program's own notation of sizes and of commands with several words is in the table too.
	where := "-F '#{session_name} #{session_id} #{window_index} #{window_id} #{pane_index} #{pane_id} #{pane_active} #{window_active} #{pane_width} #{pane_height}'"
	panes := "list-panes -a " + where
	for _, line := range strings.Split(strings.TrimSpace(`
new-session -d -s work -n main -x 80 -y 24 -P cat
has-session -t work
has-session -t wor
has-session -t =wor
has-session -t nope
new-session -d -s work
new-session -s other
split-window -h -t work -P cat
split-window -v -t work:main.0 -d -P -F '#{pane_id} #{pane_index} #{pane_width}x#{pane_height}' cat
split-window -h -l 30% -t %0 -P -F '#{pane_id} #{pane_width}' cat
split-window -v -l 5 -t %1 -P -F '#{pane_id} #{pane_height}' cat
split-window -b -t %1 -P -F '#{pane_id} #{pane_index}' cat
split-window -t %99 cat
`+panes+`
list-panes -t work
list-panes -t %77
list-panes -t work:9
list-windows -t work
list-windows -F '#I #W #F'
list-sessions
list-sessions -F '#{session_name}:#{session_windows}'
new-window -t work -n second -P cat
new-window -t work: -d -n third -P -F '#{window_id} #{window_index} #{pane_id}' cat
new-window -t work:7 -n seventh -P cat
new-window -t work:7 cat
new-window -a -t work:0 -n after -P cat
new-window -t nope: cat
list-windows -F '#{window_index} #{window_name} #{window_active} #{window_panes} #{window_id}'
select-window -t work:second
select-window -t work:nope
select-window -t work:44
list-windows -F '#I #W #{window_active}'
select-window -n -t work
select-window -l -t work
display-message -p '#S:#I.#P #W'
display-message -p -t work:main.0 '#{pane_id} #{window_name} #{?window_active,yes,no} #{==:a,a}#{!=:a,a} #{=3:window_name} #{nope}.'
display-message -p -t @0 '#{window_id} #{l:x} #{?pane_active,#{pane_id},no} ## #{b:pane_current_path}'
display-message -p -t '$0' '#{session_id}'
display-message -p -t %0 '#{||:0,1}#{&&:1,0} #{m:w*,work} #{p5:window_name}| #{n:window_name} #{?0,a,b} #{?nope,a,#{?1,c,d}}'
select-pane -t %0
`+panes+`
select-pane -t work:main.1
select-pane -l -t work:main
select-pane -t %0 -T title
display-message -p -t %0 '#{pane_title}'
select-pane -t work:main.9
rename-window -t work:second renamed
rename-session -t work job
has-session -t work
list-windows -a -F '#{session_name} #W'
rename-session -t job 'a.b:c'
list-sessions -F '#S'
rename-session -t a_b_c work
set-option -g mouse on
set-option -t work @mine 1
set-option -p -t %0 pane-border-style fg=red
set-window-option -t work:main automatic-rename off
show-options -gv base-index
show-options -g history-limit
new-session -d -s two -x 100 -y 30 -n w cat
list-panes -t two -F '#{pane_width}x#{pane_height} #{window_width}x#{window_height} #{pane_id}'
split-window -t two -h cat
split-window -t two -h -p 50 cat
list-panes -t two -F '#{pane_index} #{pane_width}x#{pane_height}'
select-layout -t two even-horizontal
list-panes -t two -F '#{pane_index} #{pane_width}x#{pane_height}'
select-layout -t two even-vertical
list-panes -t two -F '#{pane_index} #{pane_width}x#{pane_height}'
select-layout -t two main-vertical
list-panes -t two -F '#{pane_index} #{pane_width}x#{pane_height}'
select-layout -t two main-horizontal
list-panes -t two -F '#{pane_index} #{pane_width}x#{pane_height}'
select-layout -t two tiled
list-panes -t two -F '#{pane_index} #{pane_width}x#{pane_height}'
kill-pane -t two.1
kill-pane -t two.1
list-panes -t two -F '#{pane_index} #{pane_width}x#{pane_height}'
list-panes -a -f '#{==:#{session_name},two}' -F '#S #P'
kill-pane -t %99
kill-window -t work:renamed
kill-window -t work:44
list-windows -t work -F '#I #W'
kill-window -a -t work:0
list-windows -t work -F '#I #W'
kill-pane -a -t work:0.0
list-panes -t work -F '#{pane_index} #{pane_id} #{pane_active} #{pane_width}x#{pane_height}'
new-session -d -s hidden -n h cat
split-window -h -t work -n nope cat
split-window -h -t work -d -P -F '#{pane_id}' -- cat
respawn-pane -t work:0.1
respawn-pane -k -t work:0.1 -- sleep 1000
list-panes -t work -F '#{pane_index} #{pane_id} #{pane_active} #{pane_width}x#{pane_height}'
break-pane -d -s work:0.1 -t hidden: -n away -P -F '#{session_name}:#{window_index}.#{pane_index} #{window_name}'
list-panes -a -F '#{session_name}:#{window_index}.#{pane_index} #{pane_id} #{pane_active} #{pane_width}x#{pane_height}'
join-pane -h -s hidden:away -t work:0
list-panes -a -F '#{session_name}:#{window_index}.#{pane_index} #{pane_id} #{pane_active} #{pane_width}x#{pane_height}'
join-pane -s work:0.0 -t work:0.0
show-environment -g CLAUDE_CODE_CHILD_SESSION
set-option -p -t work:0.0 remain-on-exit failed
resize-pane -t nope -x 30%
kill-session -t hidden
kill-pane -a -t work:0.0
send-keys -t nope x
send-keys -t work:9 x
send-keys -N x -t work x
nonsense
kill
list-panes -Q
kill-session -t nope
kill-session -t two
list-sessions -F '#S'
display-message -p 'a' ; display-message -p 'b'
-V
kill-session -t work
`), "\n") {
		b.compare(line)
	}
}

// TestTmuxCompatChangesPlaces compares swaps of panes, selection of windows, and the size of a zoomed pane with tmux.
//
// FEATURES: R119
func TestTmuxCompatChangesPlaces(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	b := newBoth(t)
	if out, err := exec.Command(b.tmux, "-V").Output(); err != nil || !strings.HasPrefix(string(out), "tmux 3.3") {
		t.Skipf("its words are those of tmux 3.3: %s, %v", out, err)
	}
	const (
		panes = "list-panes -a -F '#{window_index}.#{pane_index} #{pane_id} #{pane_active} #{pane_width}x#{pane_height}'"
		shown = "list-panes -a -F '#{window_index}.#{pane_index} #{pane_id} #{pane_active}#{window_active}'"
	)
	for _, line := range []string{
		"new-session -d -s work -n main -x 80 -y 24 cat",
		"split-window -h -l 20 -t work cat", "split-window -v -t work cat", panes,
		"swap-pane -U -t work:0.1", panes, "swap-pane -D -t work:0.2", panes, "swap-pane -d -s work:0.0 -t work:0.1", panes,
		"swap-pane -s %0 -t %0", "swap-pane -s %77", "rotate-window -t work", panes, "rotatew -D -t work", panes, "last-pane -t work", panes,
		"new-window -t work -n second cat", "swap-pane -s work:0.0 -t work:1.0", panes,
		"next-window -t work", "display-message -p '#I'", "previous-window -t work", "display-message -p '#I'", "last-window -t work", "display-message -p '#I'",
		"next-window -t nope", "rotate-window -t work:1", panes,
		// The shown window stays, whichever of its panes closes and wherever one is created.
		"kill-window -t work:1", "split-window -d -t work:0 cat", "new-window -t work -n later cat", "select-window -t work:0", "select-pane -t work:0.1", "kill-pane -t work:0.1", shown,
		"split-window -t work:later cat", shown, "select-pane -t work:later.0", "join-pane -s work:later.0 -t work:0.0", "kill-pane -t work:0.1", shown,
		"new-session -d -s whole -x 80 -y 24 cat", "split-window -h -t whole cat",
		"split-window -f -l 6 -t whole -P -F '#{pane_index} #{pane_width}x#{pane_height}' cat",
		"split-window -hbf -l 10 -t whole -P -F '#{pane_index} #{pane_width}x#{pane_height}' cat",
		"kill-session -t whole", "next", "kill-session -t work",
	} {
		b.compare(line)
	}
}

// TestTmuxCompatTargets compares targets, default targets and sizes of panes with tmux.
//
// FEATURES: R106
func TestTmuxCompatTargets(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	b := newBoth(t)
	if out, err := exec.Command(b.tmux, "-V").Output(); err != nil || !strings.HasPrefix(string(out), "tmux 3.3") {
		t.Skipf("its words are those of tmux 3.3: %s, %v", out, err)
	}
	const (
		panes   = "list-panes -a -F '#S:#I.#P #{pane_id} #{pane_active}#{window_active} #{pane_width}x#{pane_height} #{window_width}x#{window_height} #W'"
		places  = "list-panes -a -F '#S:#I.#P #{pane_id} #{pane_active}#{window_active} #W'"
		where   = " '#S:#I.#P #{pane_id} #{pane_active}#{window_active} #W'"
		current = "display-message -p" + where
	)
	for _, line := range []string{
		"", "new-session -d -s alps -n v1.2 -x - -y - cat", "new-session -d -s alpha -n aa -x 80 -y 24 cat", "new-session -d -x 70000 cat", "new-session -d -y 0 cat",
		"new-session -d -x wide cat", panes, current,
		"new-window -t alpha -n ab cat", "new-window -d -t alpha -n bc cat", "split-window -h -t alpha:aa cat", "split-window -v -b -t alpha:aa cat", panes, current,
		// sessions
		"has-session -t al", "has-session -t alp", "has-session -t 'a*a'", "has-session -t 'a*'", "has-session -t =alp", "has-session -t $1", "has-session -t $0", "has-session -t $9",
		"list-windows -t %1 -F '#W'", "list-windows -t @2 -F '#W'", "list-windows -t %9", "has-session -t a.b:0", "has-session -t nope ; display-message -p x",
		// windows
		"list-panes -t alpha:^ -F '#W'", "list-panes -t alpha:$ -F '#W'", "list-panes -t alpha:! -F '#W'", "list-panes -t alpha:+ -F '#W'", "list-panes -t alpha:- -F '#W'",
		"list-panes -t alpha:{start} -F '#W'", "list-panes -t alpha:{end} -F '#W'", "list-panes -t alpha:{last} -F '#W'", "list-panes -t alpha:{next} -F '#W'",
		"list-panes -t alpha:{previous} -F '#W'", "list-panes -t alpha:b -F '#W'", "list-panes -t alpha:a", "list-panes -t alpha:=b", "list-panes -t alpha:=bc -F '#W'",
		"list-panes -s -t alpha -F '#I.#P'", "list-panes -t alpha:9",
		// panes
		"display-message -p -t alpha:aa.!" + where, "display-message -p -t alpha:aa.{last}" + where, "display-message -p -t alpha:aa.%4" + where, "display-message -p -t %1 -t %3" + where,
		"display-message -p -t :.0" + where, "display-message -p -t nope" + where, "display-message -p -F '#S' -t alps", "display-message -t alps x",
		"select-window -t alpha:aa", "display-message -p -t alpha:aa.+" + where, "display-message -p -t alpha:aa.-" + where, "display-message -p -t alpha:aa.{next}" + where,
		"display-message -p -t alpha:aa.{previous}" + where, "display-message -p -t 1" + where, "display-message -p -t 2" + where,
		// selecting
		"select-pane -t alpha:aa.0", "select-pane -R -t alpha:aa", panes, "select-pane -L -t alpha:aa", panes, "select-pane -m -t alpha:aa.2", panes, "select-pane -M",
		"select-window -p -t alpha", panes, "select-window -n -t alpha", panes, "select-window -t nope:0",
		"rename-session -t alps alps", "rename-session -t alps alpha", "rename-session -t alps ''", "rename-session -t alps", "rename-window -t alps",
		"set-option", "show-options -gq nonsense", "show-options -g nonsense", "show-options -g prefix",
		// sizes
		"resize-pane -t alpha:aa.0 -x 30%", "display-message -p -t alpha:aa.0 '#{pane_width}'", "resize-pane -t alpha:aa.1 -y 5", "display-message -p -t alpha:aa.1 '#{pane_height}'",
		"resize-pane -t alpha:aa.1 -y 25%", "display-message -p -t alpha:aa.1 '#{pane_height}'",
		"resize-pane -t alpha:aa.0 -R 4", "display-message -p -t alpha:aa.0 '#{pane_width}'", "resize-pane -t alpha:aa.0 -L", "display-message -p -t alpha:aa.0 '#{pane_width}'",
		"resize-pane -t alpha:aa.1 -D 3", "display-message -p -t alpha:aa.1 '#{pane_height}'", "resize-pane -t alpha:aa.1 -U 2", "display-message -p -t alpha:aa.1 '#{pane_height}'",
		"resize-pane -t alps:0 -x 200 -y 90", places, "resize-pane -t alps:0 -R 7", "resize-pane -t alps:0 -x wide", "resize-pane -t alps:0 -L many", "display-message -p -t alps:0 '#{pane_width}x#{pane_height}'",
		"resize-window -t alps:0 -x 100 -y 30", "display-message -p -t alps:0 '#{pane_width}x#{pane_height} #{window_width}x#{window_height}'",
		"resize-window -t alps:0 -x 20000", "resize-window -t alps:0 -y 0",
		// windows' places
		"new-window -d -b -t alpha:1 -n before cat", "new-window -d -a -t alpha:2 -n behind cat", "new-window -d -k -t alpha:4 -n instead cat", "list-windows -t alpha -F '#I #W #{window_id}'",
		"new-window -d -t 9 -n nine cat", "new-window -d -t alpha:{end} -n taken cat", "list-windows -a -F '#S:#I #W #{window_active}'",
		"break-pane -d -s alpha:aa.0 -t alpha:1", "break-pane -s alpha:aa.0 -n out -P", places, "break-pane -d -s alpha:aa.0 -t alps: -P -F '#{window_index}'",
		"join-pane -b -l 5 -s alpha:out -t alps:0", places, "join-pane -d -h -l 500 -s alps:1 -t alps:0.0", places, "join-pane -s alps:0.0 -t alpha:bc -p 30", places,
		"respawn-pane -k -t alps:0.0", "display-message -p -t alps:0.0 '#{pane_start_command}'", "respawn-pane -k -t alps:0.0 sleep 1000", "display-message -p -t alps:0.0 '#{pane_start_command}'",
		"respawn-pane -k -c /nonexistent -t alps:0.0 sleep 1000", "new-window -d -c /nonexistent -t alps: -n lost sleep 1000",
		"list-windows -t alps -F '#W #{pane_start_command}'", "kill-window -t alps:lost",
		"swap-pane -s alps:0.0 -t alps:0.1", places, "swap-pane -d -s alps:0.0 -t alpha:aa.0", places,
		"kill-session -C -t alpha", "new-session -d -s third -n t cat", "new-session -A -d -s third", "new-session -s third", "new-session -d -s 'a.b' -n dotted cat", places,
		"kill-session -a -t third", places, "send-keys -X -t third copy", "send-keys -N 0 -t third x", "capture-pane -t third", "capture-pane -a -p -t third",
		"capture-pane -a -q -p -t third", "attach-session -t third", "attach-session -t nope", "kill-session -t third",
	} {
		b.compare(line)
	}
}

// TestTmuxCompatDividesWindows compares the division of windows with tmux: which pane gives and gets space, positions,
// neighbours, and zoom.
//
// FEATURES: R106
func TestTmuxCompatDividesWindows(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	const (
		panes  = "list-panes -t work -F '#{pane_index} #{pane_id} #{pane_left},#{pane_top},#{pane_right},#{pane_bottom} #{pane_width}x#{pane_height} #{pane_at_left}#{pane_at_right}#{pane_at_top}#{pane_at_bottom} #{pane_active}'"
		layout = "display-message -p -t work '#{window_layout} #{window_visible_layout} #{window_flags} #{window_zoomed_flag} #{pane_id}'"
	)
	lines := []string{
		"new-session -d -s work -n main -x 120 -y 40 cat", layout, "split-window -d -h -l 30% -t work cat", "split-window -v -t work cat", panes, layout,
		"split-window -h -f -l 9 -t work cat", layout, "split-window -v -b -t %1 cat", layout, "kill-pane -t %3", layout,
	}
	for _, word := range []string{"top", "bottom", "left", "right", "top-left", "top-right", "bottom-left", "bottom-right", "left-of", "right-of", "up-of", "down-of"} {
		lines = append(lines, "display-message -p -t work:.{"+word+"} '#{pane_id}'", "select-pane -t work:.{"+word+"}", "display-message -p -t {"+word+"} '#{pane_id}'")
	}
	for _, line := range []string{
		"select-pane -L", "select-pane -R", "select-pane -U", "select-pane -D", "resize-pane -t %0 -x 50", "resize-pane -t %0 -y 50%", "resize-pane -t %2 -U 5", "resize-pane -t %0 -R 4",
		"resize-pane -L 60", "resize-pane -D 100", "resize-pane -Z -t %2", "select-pane -Z -L", "resize-pane -Z", "resize-pane -Z -t %1", "select-pane -t %0", "resize-pane -Z", "split-window -d cat",
		"select-layout tiled", "select-layout main-vertical", "select-layout main-horizontal", "select-layout even-horizontal", "select-layout even-vertical", "select-layout",
		"select-layout bogus", "select-layout abcd,120x40,0,0,0", "select-layout -o", "next-layout", "next-layout", "previous-layout", "select-layout -n", "select-layout -p",
		"select-layout d69f,120x40,0,0{83x40,0,0[83x20,0,0,0,83x19,0,21,2],36x40,84,0,1}", "resize-pane -t %0 -x 20", "select-layout -E", "swap-pane -s work:0.0 -t work:0.1", "rotate-window",
		"resize-window -t work -x 90 -y 30", "kill-pane -t work:0.0", "kill-pane -t work:0.0", "join-pane -d -s %0 -t %0", "select-layout d69f,120x40,0,0{83x40,0,0[83x20,0,0,0,83x19,0,21,2],36x40,84,0,1}",
		"break-pane -d -s work:0.0 -n out", "join-pane -h -d -s work:out -t work:0.0", "kill-session -t work",
	} {
		lines = append(lines, line, panes, layout)
	}
	compareAll(t, lines)
}

// compareAll gives lines to tmux and to us.
func compareAll(t *testing.T, lines []string) {
	t.Helper()
	b := newBoth(t)
	if out, err := exec.Command(b.tmux, "-V").Output(); err != nil || !strings.HasPrefix(string(out), "tmux 3.3") {
		t.Skipf("its words are those of tmux 3.3: %s, %v", out, err)
	}
	for _, line := range lines {
		b.compare(line)
	}
}

// TestTmuxCompatKeepsWhatIsSet stores options, buffers and environments, and reads them again; windows move.
//
// FEATURES: R106
func TestTmuxCompatKeepsWhatIsSet(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	const windows = "list-windows -t work -F '#{window_index}:#{window_name}#{window_flags} #{window_last_flag} #{window_start_flag}#{window_end_flag}'"
	file := filepath.Join(t.TempDir(), "text")
	compareAll(t, []string{
		"new-session -d -s work -n main -x 120 -y 40 cat", "new-window -d -t work -n two cat", "new-window -t work: -n three cat", windows, "select-window -t work:0", windows, "last-window -t work",
		"move-window -s work:2 -t work:7", windows, "move-window -s work:0 -t work:1", "move-window -s work:0 -t work:0", "swap-window -s work:0 -t work:1", windows, "swap-window -s work:0 -t work:9",
		"respawn-window -t work:1", "respawn-window -k -t work:1 cat", windows, "move-window -r -t work", windows, "swap-window -d -s work:0 -t work:2", windows,
		// options
		"set-option -g @plugin 'x y'", "show-options -gqv @plugin", "show-options -g @plugin", "show-option -gqv @none", "show-options -v -t work @none", "set-option -t work @local 1",
		"show-options -v -t work @local", "display-message -p '#{@plugin} #{@local}'", "set-option -o @local 2", "set-option -a @local 3", "show-options -t work @local", "set-option -u -t work @local",
		"display-message -p '#{@local}.'", "set-option -gu @plugin", "show-options -gqv @plugin", "set -p -t %0 @agent mate", "show -pqv -t %0 @agent", "display-message -p -t %0 '#{@agent}'",
		"set-option -g mouse on", "show-options -gv mouse", "set-option -g mouse", "show-options -gv mouse", "setw -t work:0 automatic-rename off", "showw -t work:0 -v automatic-rename",
		// environments
		"set-environment", "set-environment X", "set-environment -t work FOO bar", "show-environment -t work FOO", "show-environment -s -t work FOO", "set-environment -r -t work FOO",
		"show-environment -t work FOO", "set-environment -u -t work FOO", "show-environment -t work FOO", "set-environment -g G 1", "show-environment -g G", "show-environment -g NONE",
		// buffers
		"show-buffer", "set-buffer", "set-buffer -b one 'some text'", "show-buffer -b one", "set-buffer -a -b one ' more'", "save-buffer -b one -", "list-buffers", "set-buffer -n two -b one",
		"list-buffers -F '#{buffer_name} #{buffer_size} #{buffer_sample}'", "save-buffer -b two " + file, "load-buffer " + file, "show-buffer", "list-buffers", "load-buffer /nonexistent/x",
		"paste-buffer -b none", "paste-buffer -d -t work:0", "delete-buffer -b two", "delete-buffer -b two", "delete-buffer", "list-buffers", "paste-buffer",
		// commands in commands
		"if-shell true 'display-message -p yes' 'display-message -p no'", "if-shell false 'display-message -p yes' 'display-message -p no'", "if-shell -F #{==:a,a} 'display-message -p f ; display-message -p g'",
		"if-shell true", "run-shell 'exit 3'", "run-shell true", "run-shell -b true", "run-shell -C 'display-message -p hello'", "run-shell", "wait-for", "wait-for -S c", "wait-for c",
		"list-clients", "unbind-key -n M-h", "source-file /nonexistent/x", "source-file -q /nonexistent/x", "display-message -p '#{pane_pipe}'", "pipe-pane -t nope", "kill-session -t work",
	})
}

// TestTmuxCompatFillsRoom ends a pane by itself. The next command gives its space to its neighbours, also one that
// takes the lock later.
//
// FEATURES: R106
func TestTmuxCompatFillsRoom(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	b := newBoth(t)
	ours := func(line string) string {
		t.Helper()
		out, status := outcome(t, b.ours(words(line)...))
		if status != 0 {
			t.Fatalf("%s: %d %s", line, status, out)
		}
		return out
	}
	ours("new-session -d -s w -x 80 -y 24 cat")
	for _, command := range []string{"capture-pane -t w.0 -b taken", "if-shell true 'select-pane -t w.0'", "wait-for -S x", "list-panes -t w"} {
		pane := ours("split-window -h -t w.0 -P -F '#{s/%/tmux-/:pane_id}' cat")
		end := exec.Command(b.i.Exe, "kill", strings.TrimSpace(pane)) // not by a command of tmux's
		if end.Env = b.environ(); end.Run() != nil {
			t.Fatalf("%s cannot be ended", pane)
		}
		ours(command)
		if got := ours("list-panes -t w -F '#{pane_width} #{pane_right}'"); got != "80 79\n" {
			t.Errorf("after %s: %q", command, got)
		}
	}
}

// TestTmuxCompatReadsWords compares formats, keys, lines of the screen and usage errors with tmux.
//
// FEATURES: R106
func TestTmuxCompatReadsWords(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	compareAll(t, []string{
		"new-session -d -s work -n main -x 100 -y 30 cat", "split-window -h -d -t work cat", "new-window -d -t work -n two cat",
		"display-message -p '#{e|+|:1,2} #{s/main/x/:window_name} #{<:1,2} #{m/r:^ma,main} #{w:window_name} #{=/2/..:window_name}'", "display-message -p '#{W:#{window_index} }#{P:#{pane_id} }#{S:#{session_name} }'",
		"display-message -p '#{W:#{window_index} ,<#{window_index}> }#{active_window_index} #{last_window_index}'", "display-message -p '%% %Y 50%'",
		"new-window -S -t work -n two", "display-message -p '#I'", "select-window -t work:0", "capture-pane -p -t %0 -S 2 -E 1", "capture-pane -p -t %0 -S -5 -E -1", "capture-pane -p -t %0 -S 40 -E 50",
		"resize-pane -t work:0.0 -x 0", "resize-pane -t work:0.0 -y 200%", "resize-pane -t work:0.0 -U 0", "resize-pane -t work:0.0 1 2", "rename-window a b", "display-message a b", "select-layout a b",
		"set-option a b c", "show-options a b", "show-buffer x", "wait-for a b", "display-message -p a ; nonsense", "display-message -p a ; kill-pane x", "kill-session -t work",
	})
}

// TestTmuxCompatPipes pipes a pane's output to a command. A new pipe ends the previous one.
//
// FEATURES: R106
func TestTmuxCompatPipes(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	b := newBoth(t)
	file := filepath.Join(t.TempDir(), "out")
	for _, line := range []string{"new-session -d -s w cat", "pipe-pane -t w 'cat >>" + file + "'", "send-keys -t w -l piped", "send-keys -t w Enter"} {
		if out, status := outcome(t, b.ours(words(line)...)); status != 0 {
			t.Fatalf("%s: %d %s", line, status, out)
		}
	}
	for _, c := range [][2]string{{"display-message -p -t w '#{pane_pipe}'", "1\n"}, {"pipe-pane -t w", ""}, {"display-message -p -t w '#{pane_pipe}'", "0\n"}} {
		if out, status := outcome(t, b.ours(words(c[0])...)); status != 0 || out != c[1] {
			t.Errorf("%s: %d %q", c[0], status, out)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !strings.Contains(string(got), "piped") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestTmuxCompatKnowsTheCallersPane resolves the default target: the caller's own pane, also if another window is shown
// (tmux takes that window's); from elsewhere the pane used last.
//
// FEATURES: R106
func TestTmuxCompatKnowsTheCallersPane(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	b := newBoth(t)
	ours := func(line string) string {
		t.Helper()
		out, status := outcome(t, b.ours(words(line)...))
		if status != 0 {
			t.Errorf("%s: %d %s", line, status, out)
		}
		return strings.TrimSpace(out)
	}
	for _, line := range []string{"new-session -d -s w -x 80 -y 24 -n one cat", "split-window -t w cat", "new-window -t w -n two cat", "new-session -d -s x -n three cat"} {
		ours(line)
	}
	for pane, want := range map[string]string{"": "x three", "%0": "w one", "%1": "w one", "%2": "w two", "%3": "x three", "%9": "x three", "x": "x three"} {
		b.env = []string{"TMUX_PANE=" + pane}
		if got := ours("display-message -p '#S #W'"); got != want {
			t.Errorf("in %q it is %q, not %q", pane, got, want)
		}
	}
	b.env = []string{"TMUX_PANE=%1"}
	if got := ours("split-window -d -P -F '#W #{pane_id} #P' cat") + " " + ours("new-window -d -P -F '#S:#I' cat"); got != "one %4 2 w:2" {
		t.Error(got)
	}
	ours("kill-pane")
	b.env = nil
	if got := ours("list-panes -t w:one -F '#{pane_id}'"); got != "%0\n%4" {
		t.Errorf("%q are left", got)
	}
	// Its start environment is not the caller's, and text that is too long for a label is cut between characters.
	b.env = []string{"TMUX=/x,1,0", "TMUX_PANE=%0", "GIVEN=1"}
	long := "sleep 1000 # " + strings.Repeat("ü", 200)
	outcome(t, b.ours("new-session", "-d", "-s", "env", "-e", "MORE=2", "-c", "/", "-n", "five", long))
	if got := ours("display-message -p -t env '#{pane_start_command}'"); !strings.HasPrefix(long, got) || len(got) < 190 {
		t.Errorf("it was started as %q", got)
	}
	for _, c := range []struct {
		line   string
		status int
		says   string
	}{
		{"set-option -t nope mouse on", 1, "nope"}, {"send-keys -H -t x xx", 1, "invalid key: xx"}, {"send-keys -H -t x a", 0, ""}, {"display-message -p -t %77 '#S'", 1, "can't find pane: %77"},
		{"show-options -g @mine", 0, ""}, {"rename-window -t x " + strings.Repeat("n", 129), 1, "too long"}, {"rename-session -t x " + strings.Repeat("n", 129), 1, "invalid session"},
		{"select-layout -t x b25e,80x24,0,0,1", 0, ""}, {"resize-pane -t w:one.0 -x 500 -y 500", 0, ""}, {"new-window -k -t w:2 -n again cat", 0, ""}, {"start-server", 0, ""}, {"source-file -q x", 0, ""},
		{"wait-for -L x", 1, "flock"}, {"detach-client", 1, "longterm clients"}, {"run-shell -d 1 true", 1, "sleep"},
	} {
		if out, status := outcome(t, b.ours(words(c.line)...)); status != c.status || !strings.Contains(out, c.says) || c.says == "" && out != "" {
			t.Errorf("%s: %d %q", c.line, status, out)
		}
	}
	if got := ours("list-panes -t w:one -F '#{pane_width}x#{pane_height}'"); !strings.HasPrefix(got, "80x22") {
		t.Errorf("a pane is larger than its window: %s", got)
	}
	ours("rename-window -t x v1.2")
	ours("new-window -d -t x -n v1x cat")
	if got := ours("list-panes -t x:v1.2 -F '#W'") + " " + ours("list-panes -t x:v1.2.0 -F '#W'"); got != "v1.2 v1.2" {
		t.Errorf("a window with a dot in its name is %q", got)
	}
}

// TestTmuxCompat_UnknownCommand_NamesAlternative runs an unsupported tmux command. The error is that of an older tmux,
// with an alternative.
//
// FEATURES: R119
func TestTmuxCompat_UnknownCommand_NamesAlternative(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	b := newBoth(t)
	for line, how := range map[string]string{"clear-history": "longterm prune", "lsk": "longterm view", "link-window": "the viewer", "frobnicate": ""} {
		got, status := outcome(t, b.ours(words(line)...))
		name, _, _ := strings.Cut(line, " ")
		if status != 1 || !strings.Contains(got, "unknown command: "+name+"\n") || !strings.Contains(got, how) || how == "" && strings.Contains(got, "longterm") {
			t.Errorf("%s: %d %q", line, status, got)
		}
	}
}

// TestTmuxCompatTypesAndReads types into panes and reads their screens.
//
// FEATURES: R106
func TestTmuxCompatTypesAndReads(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	b := newBoth(t)
	b.compare("new", "new-session", "-d", "-s", "w", "-x", "40", "-y", "8", "-e", "GIVEN=1", "echo $GIVEN ${TMUX_PANE} ${TMUX:+set}; printf 'a\\033[1;31mred\\033[0m\\n'; cat")
	shows := func(which func(...string) *exec.Cmd, want string, args ...string) {
		t.Helper()
		got := ""
		for range 500 { // each poll takes some milliseconds
			if got, _ = outcome(t, which(args...)); strings.Contains(got, want) {
				return
			}
		}
		t.Fatalf("%q never showed; there is %q", want, got)
	}
	both := func(want string, args ...string) {
		t.Helper()
		shows(b.real, want, args...)
		shows(b.ours, want, args...)
		b.compare(strings.Join(args, " "), args...)
	}
	both("ared", "capture-pane", "-p", "-t", "w")
	b.compare("send", "send-keys", "-t", "w", "hello", "Space", "you", "Enter")
	both("hello you\nhello you\n", "capture-pane", "-p", "-t", "w")
	b.compare("send", "send-keys", "-l", "-t", "w", "Enter")
	b.compare("send", "send-keys", "-t", "w", "BSpace", "Enter")
	both("Ente\nEnte\n", "capture-pane", "-p", "-t", "w")
	b.compare("send", "send-keys", "-H", "-t", "w", "78", "0a")
	both("x\nx\n", "capture-pane", "-p", "-t", "w", "-S", "-")
	b.compare("capture -S 1 -E 2", "capture-pane", "-p", "-t", "w", "-S", "1", "-E", "2")
	b.compare("capture -E", "capture-pane", "-p", "-t", "w", "-S", "-", "-E", "0")
	b.compare("cursor", "display-message", "-p", "-t", "w", "#{cursor_x},#{cursor_y} #{history_size} #{alternate_on} #{pane_in_mode} #{pane_dead}")
	b.compare("wrong line", "capture-pane", "-p", "-t", "w", "-S", "x")
	b.compare("send", "send-keys", "-t", "w", strings.Repeat("long ", 12), "Enter")
	both(strings.TrimSpace(strings.Repeat("long ", 8)), "capture-pane", "-p", "-J", "-t", "w")
	if got, _ := outcome(t, b.ours("capture-pane", "-p", "-e", "-S", "-", "-t", "w")); !strings.Contains(got, "a\x1b[0;1;31mred\x1b[0m\n") {
		t.Errorf("with looks: %q", got)
	}
	b.compare("end", "send-keys", "-t", "w", "C-d", "C-d")
	for range 500 {
		if _, code := outcome(t, b.ours("has-session", "-t", "w")); code != 0 {
			return
		}
	}
	t.Error("the pane never ended")
}

// TestTmuxCompatSurvives replaces the daemon and runs many commands concurrently. Panes keep their places, and each
// command creates its own pane.
//
// FEATURES: R106
func TestTmuxCompatSurvives(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	b := newBoth(t)
	if out, code := outcome(t, b.ours("new-session", "-d", "-s", "w", "-n", "n", "cat")); code != 0 {
		t.Fatal(out)
	}
	done := make(chan string)
	for range 4 {
		go func() {
			out, err := b.ours("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", "w", "-l", "1", "cat").CombinedOutput()
			if err != nil {
				out = append(out, err.Error()...)
			}
			done <- string(out)
		}()
	}
	seen := map[string]bool{}
	for range 4 {
		if id := <-done; seen[id] || !strings.HasPrefix(id, "%") {
			t.Errorf("%q a second time, or no id", id)
		} else {
			seen[id] = true
		}
	}
	const format = "#{session_name} #{window_name} #{pane_index} #{pane_id} #{pane_pid} #{pane_active}"
	before, _ := outcome(t, b.ours("list-panes", "-a", "-F", format))
	if strings.Count(before, "\n") != 5 {
		t.Fatalf("%s", before)
	}
	if err := syscall.Kill(b.i.Status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if after, _ := outcome(t, b.ours("list-panes", "-a", "-F", format)); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
	pane, _, _ := strings.Cut(b.i.Run("info", "tmux-0", "--json"), "\n")
	if pane == "" {
		t.Error("a pane has no session of its name")
	}
}
