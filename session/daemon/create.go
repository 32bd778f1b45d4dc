//go:build unix

package daemon

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// Default size of a session, in cells.
const defaultCols, defaultRows = 80, 24

// create starts a session: checked first, recorded second, spawned third, so that a
// daemon killed in between leaves a record without a process, never the reverse.
func (h *hub) create(ctx context.Context, n api.NewSession) (*entry, error) {
	return h.createRecorded(ctx, n, func(*entry) error { return nil })
}

// errLeft is for who asked for something that the daemon's successor may have.
func errLeft() error {
	return api.Errorf(api.CodeUnavailable, "the daemon was replaced during the request").WithHint("look whether it was done before you repeat it")
}

// spawnTime bounds how long a keeper may take to start a process.
const spawnTime = 30 * time.Second

// createRecorded is create for who has something of their own to record before the process
// is started.
func (h *hub) createRecorded(ctx context.Context, n api.NewSession, record func(*entry) error) (*entry, error) {
	if h.host.Leaving() {
		return nil, errReplaced()
	}
	plan, err := h.plan(n)
	if err != nil {
		return nil, err
	}
	if err := h.withinLimits(); err != nil {
		return nil, err
	}
	k, err := h.host.KeeperFor(plan.rec.Keeper)
	if err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "no keeper for the session: %v", err).
			WithHint("see %s", h.dirs.KeeperLog())
	}
	e := &entry{rec: plan.rec}
	if err := h.reserve(ctx, e, n.Name == ""); err != nil {
		return nil, err
	}
	if err := record(e); err != nil {
		h.forget(e)
		return nil, err
	}
	if ctx.Err() != nil { // nobody wants it any more
		h.forget(e)
		return nil, ctx.Err()
	}
	if err := h.spawn(ctx, e, k, plan); err != nil {
		if h.host.Leaving() { // the successor finds the record, and the process if there is one
			return nil, errLeft()
		}
		h.forget(e)
		return nil, err
	}
	h.writes.Go(func() { h.save(e, func(*store.Session) {}) }) // its pid
	view := h.describe(e, e.s.Status())
	h.bus.Publish("created", &view)
	return e, nil
}

// plan is what create decided.
type plan struct {
	rec               store.Session
	path              string // of the executable
	env               []string
	pipe              bool
	input             bool   // with pipe
	fallback          bool   // pipe, if there is no terminal
	memory, cpu, pids uint64 // limits, as the keeper takes them; 0: none
	umask             uint64 // as the keeper takes it
	base              uint64 // offset its output begins at
	// argv is what is started: the record's, or how a shell loads the integration.
	argv  []string
	plain bool // no integration
}

func (h *hub) plan(n api.NewSession) (*plan, error) {
	p := &plan{pipe: n.Pipe, input: n.Stdin, fallback: n.PipeFallback, env: n.Env, plain: n.Plain}
	if err := p.limit(n.Limits); err != nil {
		return nil, err
	}
	if mask, err := strconv.ParseUint(n.Umask, 8, 12); err == nil {
		p.umask = mask&0o777 + 1
	}
	if p.env == nil {
		p.env = os.Environ()
	}
	p.env = append(p.env[:len(p.env):len(p.env)], n.SetEnv...)
	shells := h.conf.Get().Shells
	if shells.Default != "" && len(n.Argv) == 0 {
		p.env = append(p.env, "SHELL="+shells.Default)
	}
	if n.Restore == "" && !n.Temporary && !n.Pipe {
		n.Restore = shells.Restore
	}
	argv, shell, err := commandOf(n, p.env)
	if err != nil {
		return nil, err
	}
	cwd, err := checkCwd(n.Cwd)
	if err != nil {
		return nil, err
	}
	cols, rows := n.Cols, n.Rows
	if cols == 0 {
		cols = defaultCols
	}
	if rows == 0 {
		rows = defaultRows
	}
	if !vterm.ValidSize(cols, rows) {
		return nil, api.Errorf(api.CodeInvalid, "size %d×%d", cols, rows).
			WithHint("columns must be %d to %d, rows %d to %d", vterm.MinCols, vterm.MaxCols, vterm.MinRows, vterm.MaxRows)
	}
	if n.Engine != "" {
		if _, err := session.NewEngine(n.Engine, vterm.Options{Cols: 1, Rows: 1}); err != nil {
			return nil, api.Errorf(api.CodeInvalid, "%v", err)
		}
	}
	id := uuid.NewString()
	p.env = childEnv(p.env, id, cwd)
	if p.path, err = lookPath(argv[0], p.env, cwd); err != nil {
		return nil, err
	}
	key := paths.MainKeeper
	if n.Isolated {
		key = id
	}
	engine := cmp.Or(n.Engine, shells.Engine)
	if err := checkLabels(n.Labels); err != nil {
		return nil, err
	}
	p.argv = argv
	shell = shell || isShell(argv)
	p.rec = store.Session{
		ID: id, Name: n.Name, Argv: argv, Shell: shell, Cwd: cwd, Env: n.SetEnv, Labels: n.Labels,
		Cols: cols, Rows: rows, Engine: engine, Keeper: key, Pipe: n.Pipe, Temporary: n.Temporary, Restore: n.Restore,
		State: string(session.Running), Created: time.Now(),
	}
	if n.Name != "" {
		return p, checkName(n.Name)
	}
	return p, nil
}

// commandOf is the argv to start: the one given, the user's shell for a line, or the
// user's shell alone.
func commandOf(n api.NewSession, env []string) (argv []string, shell bool, err error) {
	switch {
	case len(n.Argv) > 0 && n.Line != "":
		return nil, false, api.Errorf(api.CodeInvalid, "both argv and line are given").WithHint("give one of them")
	case len(n.Argv) > 0:
		if strings.TrimSpace(n.Argv[0]) == "" {
			return nil, false, api.Errorf(api.CodeInvalid, "the command is empty").WithHint("name a program to run")
		}
		return n.Argv, false, nil
	case n.Line != "":
		if strings.TrimSpace(n.Line) == "" {
			return nil, false, api.Errorf(api.CodeInvalid, "the command is empty").WithHint("name a program to run")
		}
		return []string{userShell(env), "-c", n.Line}, false, nil
	default:
		return []string{userShell(env)}, true, nil
	}
}

// userShell is $SHELL, else bash, else sh (R9).
func userShell(env []string) string {
	if s := getenv(env, "SHELL"); s != "" {
		if _, err := os.Stat(s); err == nil {
			return s
		}
	}
	if p, err := lookPath("bash", env, "/"); err == nil {
		return p
	}
	return "/bin/sh"
}

func getenv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- { // the last one counts
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// notOurs are variables that describe the terminal longterm was started in, which is
// not the one the child gets.
var notOurs = []string{
	"TMUX", "TMUX_PANE", "STY", "WINDOW", "WINDOWID", "COLUMNS", "LINES", "TERMCAP", "TERM_SESSION_ID",
	"ZELLIJ", "ZELLIJ_SESSION_NAME", "ZELLIJ_PANE_ID", "KITTY_WINDOW_ID", "KITTY_PID", "KITTY_LISTEN_ON",
	"WEZTERM_PANE", "WEZTERM_UNIX_SOCKET", "VTE_VERSION", "ITERM_SESSION_ID", "ALACRITTY_WINDOW_ID",
	"KONSOLE_VERSION", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID",
}

// ours are variables that describe the terminal the child gets.
func ours(id string) map[string]string {
	return map[string]string{
		"TERM": "xterm-256color", "COLORTERM": "truecolor", "TERM_PROGRAM": "longterm", "LONGTERM_SESSION": id,
	}
}

// childEnv is the environment of a session's process.
func childEnv(env []string, id, cwd string) []string {
	set := ours(id)
	set["PWD"] = cwd
	var out []string
	at := map[string]int{}
	put := func(name, value string) {
		if i, ok := at[name]; ok {
			out[i] = name + "=" + value
			return
		}
		at[name] = len(out)
		out = append(out, name+"="+value)
	}
	for _, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		if ok && name != "" && !slices.Contains(notOurs, name) {
			put(name, value)
		}
	}
	for name, value := range set {
		put(name, value)
	}
	return out
}

func checkCwd(dir string) (string, error) {
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			home = "/"
		}
		return home, nil
	}
	if !filepath.IsAbs(dir) {
		return "", api.Errorf(api.CodeInvalid, "working directory %s is not absolute", dir)
	}
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", api.Errorf(api.CodeInvalid, "working directory %s does not exist", dir).WithHint("create it or choose another with --cwd")
	case err != nil:
		return "", api.Errorf(api.CodeInvalid, "working directory %s: %v", dir, err)
	case !st.IsDir():
		return "", api.Errorf(api.CodeInvalid, "working directory %s is not a directory", dir)
	}
	return filepath.Clean(dir), nil
}

// lookPath finds a program as execvp would with the child's PATH and directory.
func lookPath(name string, env []string, dir string) (string, error) {
	if strings.Contains(name, "/") {
		p := name
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		return p, executable(p, name)
	}
	path := getenv(env, "PATH")
	if path == "" {
		path = "/usr/local/bin:/usr/bin:/bin"
	}
	var denied error
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		p := filepath.Join(d, name)
		err := executable(p, name)
		if err == nil {
			return p, nil
		}
		var e *api.Error
		if errors.As(err, &e) && e.Code == api.CodeSpawn {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", api.Errorf(api.CodeNoProgram, "%s: command not found", name).WithHint("check the name, or PATH, or give a path")
}

func executable(p, name string) error {
	st, err := os.Stat(p)
	switch {
	case err != nil:
		return api.Errorf(api.CodeNoProgram, "%s: command not found", name).WithHint("check the path %s", p)
	case st.IsDir():
		return api.Errorf(api.CodeSpawn, "%s is a directory", p).WithHint("name a program")
	case st.Mode()&0o111 == 0:
		return api.Errorf(api.CodeSpawn, "%s is not executable", p).WithHint("chmod +x it, or run it through its interpreter")
	}
	return nil
}

// isName reports whether a name has the form of names: letters, digits and _ first,
// and . : @ + - after that.
func isName(name string) bool {
	for i, r := range name {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' || i > 0 && strings.ContainsRune(".:@+-", r) {
			continue
		}
		return false
	}
	return name != ""
}

func checkName(name string) error {
	if len(name) > 128 || !isName(name) {
		return api.Errorf(api.CodeInvalid, "session name %q", name).
			WithHint("use letters, digits and _ . : @ + -, not more than 128 bytes, beginning with a letter, digit or _")
	}
	return nil
}

func checkLabels(labels map[string]string) error {
	for k, v := range labels {
		if !isName(k) || len(k) > 128 || len(v) > 1024 {
			return api.Errorf(api.CodeInvalid, "label %q", k).
				WithHint("names use letters, digits and _ . : @ + -; values have at most 1024 bytes")
		}
	}
	return nil
}

func (h *hub) withinLimits() error {
	running := 0
	for _, e := range h.all() {
		if e.s.Status().State == session.Running {
			running++
		}
	}
	if limit := h.conf.Get().Limits.Sessions; running >= limit {
		return api.Errorf(api.CodeLimit, "%d sessions are running, the limit is %d", running, limit).
			WithHint("end some with `longterm kill`, or raise limits.sessions (`longterm config set`)")
	}
	if descriptorsLeft() < spareDescriptors {
		return noDescriptors(syscall.EMFILE)
	}
	return nil
}

// spareDescriptors are kept for clients' connections and files.
const spareDescriptors = 16

// descriptorsLeft is how many files this process may still open.
func descriptorsLeft() int {
	f, err := os.Open(os.DevNull)
	if err != nil {
		return 0
	}
	defer f.Close()
	left, err := sys.DescriptorsLeft(f)
	if err != nil {
		return spareDescriptors
	}
	return left
}

func noDescriptors(err error) error {
	return api.Errorf(api.CodeLimit, "no room for another session: %v", err).
		WithHint("end some sessions, or raise the limit (ulimit -n) and start longterm anew")
}

// reserve takes the name, makes the directory and records the session.
func (h *hub) reserve(ctx context.Context, e *entry, makeName bool) error {
	base := e.rec.Name
	if makeName {
		base = nameFor(e.rec.Argv)
		e.rec.Name = base
	}
	for i := 2; ; i++ {
		err := h.add(e)
		if err == nil {
			break
		}
		if !makeName {
			return err
		}
		e.rec.Name = base + "-" + strconv.Itoa(i)
	}
	dir := h.dirs.Session(e.rec.ID)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = h.store.CreateSession(ctx, e.rec)
	}
	if err != nil {
		h.forget(e)
		return storageError(err, h.dirs.State)
	}
	return nil
}

// nameFor makes a name from a command: its program's.
func nameFor(argv []string) string {
	base := filepath.Base(argv[0])
	if len(argv) > 2 && argv[1] == "-c" {
		if f := strings.Fields(argv[2]); len(f) > 0 {
			base = filepath.Base(f[0])
		}
	}
	clean := strings.Map(func(r rune) rune {
		if isName(string(r)) {
			return r
		}
		return -1
	}, base)
	if clean == "" {
		return "session"
	}
	return clean[:min(len(clean), 40)]
}

func storageError(err error, dir string) error {
	return api.Errorf(api.CodeStorage, "the session cannot be recorded: %v", err).
		WithHint("make room in, or make writable, %s", dir)
}

// spawn starts the process and its owner.
func (h *hub) spawn(ctx context.Context, e *entry, k Keeper, p *plan) error {
	if err := h.integrate(e.rec.ID, p); err != nil {
		return err
	}
	// From here on the process may be there, whatever becomes of who asked for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), spawnTime)
	defer cancel()
	spawned, err := spawnAt(ctx, k, p.request(e))
	if why, ok := noTerminal(err); ok && p.fallback {
		p.pipe, e.rec.Pipe, e.why = true, true, why
		spawned, err = spawnAt(ctx, k, p.request(e))
	}
	if err != nil {
		if ctx.Err() != nil { // it may come yet
			unspawn(k, e.rec.ID)
		}
		return spawnError(err)
	}
	if p.limited() && !spawned.Limited {
		unspawn(k, e.rec.ID)
		return api.Errorf(api.CodeUnavailable, "the keeper is of an older version and sets no limits").
			WithHint("run `longterm daemon upgrade`; sessions go on")
	}
	if spawned.Base != p.base {
		unspawn(k, e.rec.ID)
		return api.Errorf(api.CodeUnavailable, "the keeper is of an older version and cannot go on with a session's history").
			WithHint("run `longterm daemon upgrade`; sessions go on")
	}
	if err := h.adopt(ctx, e, k, journal.Options{}); err != nil {
		if h.host.Leaving() {
			return err
		}
		unspawn(k, e.rec.ID)
		if errors.Is(err, syscall.EMFILE) {
			return noDescriptors(err)
		}
		return storageError(err, h.dirs.State)
	}
	return nil
}

func spawnError(err error) error {
	if errors.Is(err, link.ErrLost) {
		return api.Errorf(api.CodeUnavailable, "the keeper did not start it: %v", err).WithHint("try again").AgainSoon()
	}
	if errors.Is(err, link.ErrNoCgroup) {
		return api.Errorf(api.CodeUnavailable, "%v", err).
			WithHint("limits need a cgroup v2 of the keeper's own with the controllers memory, cpu and pids, as systemd's user manager gives one; start it without limits, or see `ulimit`")
	}
	var se *link.SpawnError
	if !errors.As(err, &se) {
		return api.Errorf(api.CodeUnavailable, "the keeper did not start it: %v", err)
	}
	e := api.Errorf(api.CodeSpawn, "%v", se)
	switch se.Errno {
	case syscall.EMFILE, syscall.ENFILE:
		return noDescriptors(err)
	case syscall.ENOSPC, syscall.ENXIO:
		e = e.WithHint("no terminal is free: end some sessions, or use --pipe")
	case syscall.E2BIG:
		e = e.WithHint("arguments and environment are too large")
	case syscall.EACCES, syscall.ENOEXEC:
		e = e.WithHint("the file is not a program this system can run")
	}
	return e
}

// forget undoes a reservation.
func (h *hub) forget(e *entry) {
	h.hide(e)
	defer h.drop(e)
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if err := h.store.DeleteSession(ctx, e.rec.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
		h.log.Error("forget", "session", e.rec.ID, "err", err)
	}
	h.dropState(e.rec.ID)
	if err := os.RemoveAll(h.dirs.Session(e.rec.ID)); err != nil {
		h.log.Error("forget", "session", e.rec.ID, "err", err)
	}
}
