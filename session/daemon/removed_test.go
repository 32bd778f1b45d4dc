package daemon

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestRemovedSessionsLeaveTheMemory checks that a removed session is freed from the daemon's memory, although keys were
// typed into it and events name it: short commands accumulate for weeks.
//
// FEATURES: R90
func TestRemovedSessionsLeaveTheMemory(t *testing.T) {
	tier.Full(t)
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 1 // each allocation
	t.Cleanup(func() { runtime.MemProfileRate = rate })
	r := startDaemon(t, testDirs(t))
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "stays", Argv: []string{"cat"}})
	const many = 16
	for i := range many {
		res := get[api.Result](r, "POST", "/run", api.Run{NewSession: api.NewSession{Argv: []string{"true"}}, Start: true})
		get[api.Job](r, "GET", "/jobs/"+res.Job+"?wait=true", nil)
		r.ask("DELETE", "/sessions/"+res.Session, nil)
		get[api.Session](r, "POST", "/sessions", api.NewSession{Name: fmt.Sprint("n", i), Argv: []string{"cat"}})
		get[api.Typed](r, "POST", fmt.Sprintf("/sessions/n%d/input", i), api.Input{Text: "typed"})
		r.ask("DELETE", fmt.Sprintf("/sessions/n%d?force=true", i), nil)
	}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	left := 0
	for range 500 { // running requests have a session for a moment
		runtime.GC()
		runtime.GC() // the profile is of the collection before the last
		if left = handlesInUse(); left > 0 && left < many*3/4 {
			return
		}
		<-look.C
	}
	t.Errorf("%d sessions of %d that were removed are in memory", left, 2*many)
}

// handlesInUse returns the number of sessions in memory, by the allocation profile.
func handlesInUse() (n int) {
	records := make([]runtime.MemProfileRecord, 1<<16)
	k, ok := runtime.MemProfile(records, false)
	if !ok {
		return -1
	}
	for _, rec := range records[:k] {
		for frames := runtime.CallersFrames(rec.Stack()); ; {
			f, more := frames.Next()
			if strings.HasSuffix(f.Function, "registry.NewHandle") {
				n += int(rec.InUseObjects())
			}
			if !more {
				break
			}
		}
	}
	return n
}
