package idlepoll

import (
	"container/heap"
	"time"
)

// Alarm calls a function at a time or, while the process is idle, at the next common tick after it. One goroutine
// makes all calls of a process, as thousands of alarms may be set, so calls must not block. It runs only while alarms
// are set.
type Alarm struct {
	p     *Poller
	call  func()    // function to call
	at    time.Time // time of the next call
	index int       // position in the heap, from 1; 0: not set
}

// Alarm returns an alarm that calls f each time its set time has come.
func (p *Poller) Alarm(f func()) *Alarm { return &Alarm{p: p, call: f} }

// Set replaces the alarm's time.
func (a *Alarm) Set(at time.Time) {
	p := a.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.initialize()
	p.alarms.remove(a)
	a.at = at
	heap.Push(&p.alarms.list, a)
	if p.alarms.timer == nil {
		p.alarms.timer = time.NewTimer(time.Hour)
		go p.runAlarms()
	}
	p.alarms.resetTimer(p)
}

// Stop unsets the alarm. A call may be in progress.
func (a *Alarm) Stop() {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.p.alarms.remove(a)
	a.p.alarms.resetTimer(a.p)
}

// alarms holds the set alarms of a process.
type alarms struct {
	list  alarmHeap
	timer *time.Timer // for the first alarm; nil while no goroutine runs
}

// resetTimer sets the timer for the first alarm. Without alarms the timer fires at once, so that the goroutine ends.
func (s *alarms) resetTimer(p *Poller) {
	if s.timer == nil {
		return
	}
	d := time.Duration(0)
	if now := time.Now(); len(s.list) > 0 {
		d = p.untilNext(now, max(0, s.list[0].at.Sub(now)), 0)
	}
	s.timer.Reset(d)
}

// remove removes an alarm, if set.
func (s *alarms) remove(a *Alarm) {
	if a.index > 0 {
		heap.Remove(&s.list, a.index-1)
	}
}

// popDue removes and returns an alarm that is due. empty reports that no alarm is set.
func (s *alarms) popDue(now time.Time) (a *Alarm, empty bool) {
	if len(s.list) == 0 {
		s.timer = nil
		return nil, true
	}
	if now.Before(s.list[0].at) {
		return nil, false
	}
	return heap.Pop(&s.list).(*Alarm), false
}

// runAlarms is the goroutine that makes the calls. It ends once no alarm is set.
func (p *Poller) runAlarms() {
	p.mu.Lock()
	timer := p.alarms.timer
	p.mu.Unlock()
	for {
		<-timer.C
		for {
			p.mu.Lock()
			now := time.Now()
			p.updateIdle(now)
			a, over := p.alarms.popDue(now)
			if a == nil && !over {
				p.alarms.resetTimer(p)
			}
			p.mu.Unlock()
			if over {
				return
			}
			if a == nil {
				break
			}
			a.call()
		}
	}
}

// alarmHeap orders alarms by time (container/heap).
type alarmHeap []*Alarm

func (h alarmHeap) Len() int           { return len(h) }
func (h alarmHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }

func (h alarmHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i+1, j+1
}

func (h *alarmHeap) Push(x any) {
	a := x.(*Alarm)
	*h = append(*h, a)
	a.index = len(*h)
}

func (h *alarmHeap) Pop() any {
	last := len(*h) - 1
	a := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	a.index = 0
	return a
}
