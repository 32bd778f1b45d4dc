package session

import (
	"slices"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/vterm"
	"golang.org/x/time/rate"
)

// effects keeps the newest bells, notifications and clipboard writes of a session's program. They happen once and are not part
// of a frame, so clients that watch the session get them from here.
type effects struct {
	mu   sync.Mutex    // guards list and next
	list []vterm.Event // oldest first
	next uint64        // number of the next effect; those in list precede it

	// The owner's:
	pending bool                              // an effect was added since the last frame
	limits  map[vterm.EventKind]*rate.Limiter // nil before the first effect
}

// Bounds of effects.
const (
	maxEffects     = 32
	maxEffectBytes = 256 << 10 // longer clipboard writes are dropped
	effectBurst    = 8
	effectInterval = 250 * time.Millisecond // between two effects of a kind, after a burst
)

// add stores an effect. It returns false if the effect is too long or exceeds the rate limit, which clipboard writes do not have:
// the newest one counts.
func (f *effects) add(e *vterm.Event, now time.Time) bool {
	if e.Kind != vterm.EventClipboard {
		if f.limits == nil {
			f.limits = map[vterm.EventKind]*rate.Limiter{}
		}
		if f.limits[e.Kind] == nil {
			f.limits[e.Kind] = rate.NewLimiter(rate.Every(effectInterval), effectBurst)
		}
		if !f.limits[e.Kind].AllowN(now, 1) {
			return false
		}
	}
	if len(e.Text) > maxEffectBytes {
		return false
	}
	f.pending = true
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list, f.next = append(f.list, *e), f.next+1
	size := 0
	for i := len(f.list) - 1; i >= 0; i-- {
		if size += len(f.list[i].Text); size > maxEffectBytes || len(f.list)-i > maxEffects {
			f.list = slices.Delete(f.list, 0, i+1)
			break
		}
	}
	return true
}

// Effects returns the bells, notifications and clipboard writes of the session's program from number since on, as far as they
// are kept, and the number of the next one. A caller that passes next to its next call gets each effect once.
func (s *Session) Effects(since uint64) (list []vterm.Event, next uint64) {
	f := &s.effects
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(f.next-min(since, f.next), uint64(len(f.list)))
	return slices.Clone(f.list[uint64(len(f.list))-n:]), f.next
}

// addEffect stores an effect for clients and passes notifications to Config.OnNotify. Only the owner calls it.
func (s *Session) addEffect(e *vterm.Event) {
	if s.effects.add(e, time.Now()) && e.Kind == vterm.EventNotify && !s.publishMuted && s.cfg.OnNotify != nil {
		s.cfg.OnNotify(e.Name, e.Text)
	}
}
