//go:build unix

// Package liveconfig holds the configuration in effect. It reads the file again when it changes and keeps the last
// valid values while the file has mistakes.
//
// Any goroutine may read; readers take the whole at once (an atomic pointer). Only the maintenance goroutine calls
// ReloadIfChanged.
package liveconfig

import (
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/notify"
	"github.com/longterm-dev/longterm/session/notify/webhook"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys"
)

// Settings holds the configuration in effect. Readers take it as a whole; the maintenance goroutine owns the rest and
// polls the file. An invalid file changes nothing. A copy of the last valid file outlives the daemon: otherwise a
// mistake and a restart would apply the defaults, and with them a budget that deletes history.
type Settings struct {
	dirs      paths.Dirs
	log       *slog.Logger
	current   atomic.Pointer[snapshot]
	seen      string // sys.FileID of the file last read; empty: no file
	isMissing bool   // missing at the last check
}

// snapshot is one immutable state of the configuration.
type snapshot struct {
	values *config.Settings
	parser func() *diagnostics.Parser // created at its first use
	status api.Configuration
}

// settleTime is how long a file must be unchanged before it is read: editors write in steps.
const settleTime = 100 * time.Millisecond

// Open reads the configuration, or the last valid one.
func Open(dirs paths.Dirs, log *slog.Logger) *Settings {
	s := &Settings{dirs: dirs, log: log}
	s.current.Store(s.apply(config.Empty(""), ""))
	s.seen = sys.FileID(dirs.ConfigFile())
	s.load()
	return s
}

// Get returns the values in effect, which are immutable.
func (s *Settings) Get() *config.Settings { return s.current.Load().values }

// FrameInterval returns the shortest time between two frames of a session.
func (s *Settings) FrameInterval() time.Duration {
	return time.Second / time.Duration(max(s.Get().Limits.FrameRate, 1))
}

// Parser reads output by the configuration's matchers.
func (s *Settings) Parser() *diagnostics.Parser { return s.current.Load().parser() }

// Status returns which file is in effect, and its mistakes.
func (s *Settings) Status() api.Configuration { return s.current.Load().status }

// Hooks returns the configured hooks. known is false if the file is invalid and no earlier one was kept.
func (s *Settings) Hooks() (hooks []config.Hook, known bool) {
	now := s.current.Load()
	hooks = slices.Clone(now.values.Hooks)
	for i := range hooks {
		hooks[i].Brief = !now.values.Notify.Details
	}
	return hooks, now.status.Using != "defaults" || len(now.status.Problems) == 0
}

// GraceFor returns the time that each step of the kill ladder gets if a ends something.
func (s *Settings) GraceFor(a identity.Actor) time.Duration {
	if a.IsAgent() {
		return s.Get().Exec.AgentGrace
	}
	return s.Get().Exec.Grace
}

// TimeoutFor returns the default time limit of a wait by a; 0: none.
func (s *Settings) TimeoutFor(a identity.Actor) time.Duration {
	if a.IsAgent() {
		return s.Get().Exec.Timeout
	}
	return 0
}

// Notify returns how to notify about ended commands.
func (s *Settings) Notify() *notify.Options {
	c := s.Get()
	if !c.Alerts.Command {
		return &notify.Options{}
	}
	n := notifyOptions(&c.Alerts, &c.Notify)
	n.After, n.Attended = c.Alerts.MinDuration, !c.Alerts.UnattendedOnly
	return n
}

// NotifyApproval returns how to notify about approvals.
func (s *Settings) NotifyApproval() *notify.Options {
	c := s.Get()
	if !c.Alerts.Approval {
		return &notify.Options{}
	}
	return notifyOptions(&c.Alerts, &c.Notify)
}

// NotifyWaiting returns how to notify about programs that wait for input.
func (s *Settings) NotifyWaiting() *notify.Options {
	c := s.Get()
	if !c.Alerts.Input {
		return &notify.Options{}
	}
	n := notifyOptions(&c.Alerts, &c.Notify)
	n.After, n.Attended = c.Alerts.MinDuration, !c.Alerts.UnattendedOnly
	return n
}

// NotifyBell returns how to notify about bells.
func (s *Settings) NotifyBell() *notify.Options {
	c := s.Get()
	if !c.Alerts.Bell {
		return &notify.Options{}
	}
	n := notifyOptions(&c.Alerts, &c.Notify)
	n.Bell, n.Attended = false, !c.Alerts.UnattendedOnly
	return n
}

// notifyOptions returns the ways to notify of an alert.
func notifyOptions(a *config.Alerts, n *config.Notify) *notify.Options {
	return &notify.Options{
		Bell: a.Bell, Desktop: n.Desktop, Command: n.Command, Webhook: n.Webhook, Format: webhook.Format(n.Format), Brief: !n.Details,
	}
}

// ReloadIfChanged reads the file again if it has changed or was replaced, and reports whether it did.
func (s *Settings) ReloadIfChanged(now time.Time) bool {
	// Includes the inode's change time: tools may preserve time and size when they write in place.
	id := sys.FileID(s.dirs.ConfigFile())
	if id == s.seen {
		s.isMissing = false
		return false
	}
	if id == "" && !s.isMissing { // editors rename: it may be back in a moment
		s.isMissing = true
		return false
	}
	s.isMissing = false
	if st, err := os.Stat(s.dirs.ConfigFile()); err == nil && now.Sub(st.ModTime()).Abs() < settleTime {
		return false // the next look is soon enough
	}
	s.seen = id
	s.load()
	return true
}

// load reads the file; if it is invalid, the current values stay.
func (s *Settings) load() {
	file, src, err := config.ReadFile(s.dirs.ConfigFile())
	if err == nil {
		using := "file"
		if src == nil {
			using = "defaults"
		}
		s.current.Store(s.apply(file, using))
		s.log.Info("configuration", "file", file.Path, "using", using)
		s.saveCopy(src)
		return
	}
	var problems []string
	for _, p := range config.ProblemsOf(err) {
		problems = append(problems, p.Error())
		s.log.Error("the configuration is not taken", "problem", p.Error())
	}
	again := *s.current.Load()
	if kept, src, err := config.ReadFile(s.dirs.ConfigKept()); again.status.Using == "" && err == nil && src != nil {
		again = *s.apply(kept, "kept")
	}
	switch again.status.Using {
	case "":
		again.status.Using = "defaults"
	case "file":
		again.status.Using = "kept"
	}
	again.status.Problems = problems
	s.current.Store(&again)
}

// apply puts a file into effect.
func (s *Settings) apply(file *config.File, using string) *snapshot {
	e := &snapshot{values: file.Settings, status: api.Configuration{
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

// saveCopy stores a copy of a valid file for times when the file is invalid; without a file it removes the copy.
func (s *Settings) saveCopy(src []byte) {
	path := s.dirs.ConfigKept()
	if src == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.log.Warn("forget the last configuration", "err", err)
		}
		return
	}
	if err := config.WriteFile(path, src); err != nil {
		s.log.Warn("keep the configuration", "err", err)
	}
}
