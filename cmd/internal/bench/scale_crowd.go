//go:build unix

package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// idleSessions is the counted unit of the crowd's curves.
const idleSessions = "idle sessions"

// crowd starts n idle sessions and measures.
func (s *scaleBench) crowd(ctx context.Context, n int) error {
	const more = "one more session"
	c := s.curve(more, "ms", idleSessions)
	if c.Why != "" {
		return nil
	}
	have, err := s.c.List(ctx, "crowd")
	if err != nil {
		return err
	}
	argv, err := s.idler()
	if err != nil {
		return err
	}
	begin := time.Now()
	for i := len(have); i < n; i++ {
		ask := api.NewSession{Name: fmt.Sprint("crowd", i), Argv: argv, Labels: map[string]string{"crowd": "1"}}
		if _, err := s.c.NewSession(ctx, ask); err != nil {
			if ctx.Err() != nil || i == 0 {
				return err
			}
			c.Broke, c.Why = i, strings.ReplaceAll(err.Error(), "\n", " ")
			n = i
		}
	}
	if n > len(have) {
		s.add(more, "ms", idleSessions, n, sinceMS(begin)/float64(n-len(have)))
	}
	if err := s.awaitHistories(ctx); err != nil {
		return err
	}
	if s.eachMB > 0 {
		s.add("a MiB taken from each", "ms", idleSessions, n, sinceMS(begin)/float64(max(n-len(have), 1)*s.eachMB))
	}
	if err := s.measureAmongIdle(ctx, n); err != nil || n < s.most && c.Why == "" {
		return err
	}
	return s.replaceDaemon(ctx, n) // last, since a new daemon's memory starts from zero
}

// idler returns the command of an idle session.
func (s *scaleBench) idler() (argv []string, err error) {
	if s.eachMB == 0 {
		return []string{"sleep", "100000"}, nil
	}
	log := filepath.Join(s.dir, "each")
	if err := os.WriteFile(log, colouredLog(1<<20), 0o600); err != nil {
		return nil, err
	}
	script := fmt.Sprintf(`i=0; while [ $i -lt %d ]; do cat '%s'; i=$((i+1)); done; exec sleep 100000`, s.eachMB, log)
	return []string{"sh", "-c", script}, nil
}

// awaitHistories waits until all printed output is in the sessions' histories.
func (s *scaleBench) awaitHistories(ctx context.Context) error {
	for s.eachMB > 0 {
		all, err := s.c.List(ctx, "crowd")
		if err != nil {
			return err
		}
		behind := 0
		for i := range all {
			if all[i].Output.End < uint64(s.eachMB)<<20 { // and a CR a line more
				behind++
			}
		}
		if behind == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

// measureAmongIdle measures fast operations while n idle sessions run.
func (s *scaleBench) measureAmongIdle(ctx context.Context, n int) error {
	pids, err := s.daemonPIDs(ctx)
	if err != nil {
		return err
	}
	s.add("memory of keeper and daemon", "MiB", idleSessions, n, pss(pids...)/1024)
	ms, err := s.times(func() error { _, err := s.c.Session(s.echo).ScreenAs(ctx, client.ScreenQuery{}, "text"); return err })
	if err != nil {
		return err
	}
	s.add("a screen", "ms", idleSessions, n, ms...)
	if ms, err = s.times(func() error { _, err := s.c.List(ctx); return err }); err != nil {
		return err
	}
	s.add("a list", "ms", idleSessions, n, ms...)
	us, err := s.echoes(ctx, s.isEnough)
	if err != nil {
		return err
	}
	s.add("key to echo, in a crowd", "µs", idleSessions, n, us...)
	return nil
}

// replaceDaemon kills the daemon, and measures the time until a new one lists all sessions and shows one of them.
func (s *scaleBench) replaceDaemon(ctx context.Context, n int) error {
	st, err := s.c.Status(ctx)
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := syscall.Kill(st.DaemonPID, syscall.SIGKILL); err != nil {
		return err
	}
	if _, err := s.c.List(ctx); err != nil {
		return err
	}
	s.add("a list after kill -9 of the daemon", "ms", idleSessions, n, sinceMS(begin))
	if _, err := s.c.Session("crowd0").ScreenAs(ctx, client.ScreenQuery{}, "text"); err != nil {
		return err
	}
	s.add("and a screen", "ms", idleSessions, n, sinceMS(begin))
	return nil
}

// endAll ends all sessions and then the daemon, and measures both.
func (s *scaleBench) endAll(ctx context.Context) error {
	all, err := s.c.List(ctx, "crowd")
	if err != nil {
		return err
	}
	begin := time.Now()
	if _, err := s.lt(ctx, "kill", "--all"); err != nil {
		return err
	}
	s.add("end of all sessions", "ms", idleSessions, len(all), sinceMS(begin))
	begin = time.Now()
	if _, err := s.lt(ctx, "daemon", "stop", "--kill-sessions"); err != nil {
		return err
	}
	s.add("end of the daemon then", "ms", idleSessions, len(all), sinceMS(begin))
	return nil
}
