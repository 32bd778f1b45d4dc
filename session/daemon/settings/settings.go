//go:build unix

// Package settings is the configuration in effect: read from the file, looked at again when the file
// changes, and kept for the time it has mistakes. It knows the file and no session.
//
// Readers are any goroutines and take the whole at once (an atomic pointer); Look is its owner's alone.
package settings

import (
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/notify"
	"github.com/longterm-dev/longterm/session/notify/webhook"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys"
)

// Settings are the configuration in effect. Readers take it as a whole; maintenance, who
// owns the rest, looks whether the file changed.
//
// A file with mistakes changes nothing. A copy of the last one that was in order outlives
// the daemon: else a slip of the pen and a restart would bring the defaults, and with them
// a budget that drops history.
type Settings struct {
	dirs paths.Dirs
	log  *slog.Logger
	now  atomic.Pointer[inEffect]
	seen string // sys.FileID of the file last read; empty: there was none
	gone bool   // at the last look it was not there any more
}

// inEffect is immutable.
type inEffect struct {
	values *config.Settings
	parser func() *diagnostics.Parser // made when it is first used
	status api.Configuration
}

// settleTime is how long a file has to be left alone: editors write in steps.
const settleTime = 100 * time.Millisecond

// Open reads the configuration, or what was last in order.
func Open(dirs paths.Dirs, log *slog.Logger) *Settings {
	s := &Settings{dirs: dirs, log: log}
	s.now.Store(s.take(config.Empty(""), ""))
	s.seen = sys.FileID(dirs.ConfigFile())
	s.load()
	return s
}

// Get is the values in effect, which do not change.
func (s *Settings) Get() *config.Settings { return s.now.Load().values }

// FrameInterval is the least time between two frames of a session.
func (s *Settings) FrameInterval() time.Duration {
	return time.Second / time.Duration(max(s.Get().Limits.FrameRate, 1))
}

// Parser reads output by the configuration's matchers.
func (s *Settings) Parser() *diagnostics.Parser { return s.now.Load().parser() }

// Status says which file is in effect, and what is wrong with it.
func (s *Settings) Status() api.Configuration { return s.now.Load().status }

// Hooks are those of the configuration; known is false when a file with mistakes has them, and no earlier one was kept.
func (s *Settings) Hooks() (hooks []config.Hook, known bool) {
	now := s.now.Load()
	hooks = slices.Clone(now.values.Hooks)
	for i := range hooks {
		hooks[i].Brief = !now.values.Notify.Details
	}
	return hooks, now.status.Using != "defaults" || len(now.status.Problems) == 0
}

// GraceFor returns the time that each step of the kill ladder gets if a ends something.
func (s *Settings) GraceFor(a actor.Actor) time.Duration {
	if a.IsAgent() {
		return s.Get().Exec.AgentGrace
	}
	return s.Get().Exec.Grace
}

// TimeoutFor returns the default time limit of a wait by a; 0: none.
func (s *Settings) TimeoutFor(a actor.Actor) time.Duration {
	if a.IsAgent() {
		return s.Get().Exec.Timeout
	}
	return 0
}

// Notify says whom the configuration wants to be told of ends.
func (s *Settings) Notify() *notify.Options {
	c := s.Get()
	if !c.Alerts.Command {
		return &notify.Options{}
	}
	n := ways(&c.Alerts, &c.Notify)
	n.After, n.Attended = c.Alerts.MinDuration, !c.Alerts.UnattendedOnly
	return n
}

// NotifyAsked says whom the configuration wants to be told of what a person has to allow.
func (s *Settings) NotifyAsked() *notify.Options {
	c := s.Get()
	if !c.Alerts.Approval {
		return &notify.Options{}
	}
	return ways(&c.Alerts, &c.Notify)
}

// NotifyWaiting says whom it wants to be told of programs that wait for input, after how long, and whether also where
// clients are attached.
func (s *Settings) NotifyWaiting() *notify.Options {
	c := s.Get()
	if !c.Alerts.Input {
		return &notify.Options{}
	}
	n := ways(&c.Alerts, &c.Notify)
	n.After, n.Attended = c.Alerts.MinDuration, !c.Alerts.UnattendedOnly
	return n
}

// NotifyBell says whom it wants to be told of a program's bell, and whether also where clients are attached.
func (s *Settings) NotifyBell() *notify.Options {
	c := s.Get()
	if !c.Alerts.Bell {
		return &notify.Options{}
	}
	n := ways(&c.Alerts, &c.Notify)
	n.Bell, n.Attended = false, !c.Alerts.UnattendedOnly
	return n
}

func ways(a *config.Alerts, n *config.Notify) *notify.Options {
	return &notify.Options{
		Bell: a.Bell, Desktop: n.Desktop, Command: n.Command, Webhook: n.Webhook, Format: webhook.Format(n.Format), Brief: !n.Details,
	}
}

// Look reads the file anew if it is another than the one last read, however it was
// replaced. It reports whether it did.
func (s *Settings) Look(now time.Time) bool {
	// With the time of its inode: tools may keep what is written in place at the same time and size.
	id := sys.FileID(s.dirs.ConfigFile())
	if id == s.seen {
		s.gone = false
		return false
	}
	if id == "" && !s.gone { // editors rename: it may be back in a moment
		s.gone = true
		return false
	}
	s.gone = false
	if st, err := os.Stat(s.dirs.ConfigFile()); err == nil && now.Sub(st.ModTime()).Abs() < settleTime {
		return false // the next look is soon enough
	}
	s.seen = id
	s.load()
	return true
}

// load reads the file; with mistakes in it what is in effect stays.
func (s *Settings) load() {
	file, src, err := config.Read(s.dirs.ConfigFile())
	if err == nil {
		using := "file"
		if src == nil {
			using = "defaults"
		}
		s.now.Store(s.take(file, using))
		s.log.Info("configuration", "file", file.Path, "using", using)
		s.keep(src)
		return
	}
	var problems []string
	for _, p := range config.ProblemsOf(err) {
		problems = append(problems, p.Error())
		s.log.Error("the configuration is not taken", "problem", p.Error())
	}
	again := *s.now.Load()
	if kept, src, err := config.Read(s.dirs.ConfigKept()); again.status.Using == "" && err == nil && src != nil {
		again = *s.take(kept, "kept")
	}
	switch again.status.Using {
	case "":
		again.status.Using = "defaults"
	case "file":
		again.status.Using = "kept"
	}
	again.status.Problems = problems
	s.now.Store(&again)
}

// take makes a file the one in effect.
func (s *Settings) take(file *config.File, using string) *inEffect {
	e := &inEffect{values: file.Settings, status: api.Configuration{
		File: s.dirs.ConfigFile(), Using: using, Loaded: time.Now(), Problems: []string{},
	}}
	e.parser = sync.OnceValue(func() *diagnostics.Parser {
		p, err := diagnostics.NewParser(file.Settings.Matchers...)
		if err != nil { // was checked
			s.log.Error("problem matchers", "err", err)
			p, _ = diagnostics.NewParser()
		}
		return p
	})
	return e
}

// keep has a copy of a file that is in order for the time it is not; without a file there
// is nothing to keep.
func (s *Settings) keep(src []byte) {
	path := s.dirs.ConfigKept()
	if src == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.log.Warn("forget the last configuration", "err", err)
		}
		return
	}
	if err := config.Write(path, src); err != nil {
		s.log.Warn("keep the configuration", "err", err)
	}
}
