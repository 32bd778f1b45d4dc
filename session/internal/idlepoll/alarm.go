package idlepoll

import (
	"container/heap"
	"time"
)

// Alarm calls a function at a time, or, while the process is idle, at the next beat after it. One goroutine makes all
// calls of a process, as thousands of alarms may be set; calls must not block. It runs only while alarms are set.
type Alarm struct {
	p    *Pace
	call func()
	at   time.Time
	in   int // the heap, from 1 on; 0: it is not set
}

// Alarm calls f whenever it has been set.
func (p *Pace) Alarm(f func()) *Alarm { return &Alarm{p: p, call: f} }

// Set replaces the alarm's time.
func (a *Alarm) Set(at time.Time) {
	p := a.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin()
	p.alarms.remove(a)
	a.at = at
	heap.Push(&p.alarms.list, a)
	if p.alarms.timer == nil {
		p.alarms.timer = time.NewTimer(time.Hour)
		go p.ring()
	}
	p.alarms.set(p)
}

// Stop unsets the alarm. A call may be in progress.
func (a *Alarm) Stop() {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.p.alarms.remove(a)
	a.p.alarms.set(a.p)
}

// alarms are those of a process that are set.
type alarms struct {
	list  byTime
	timer *time.Timer // for the first alarm; nil while no goroutine runs
}

// set sets the timer for the first alarm. Without alarms the timer fires at once, so that the goroutine ends.
func (s *alarms) set(p *Pace) {
	if s.timer == nil {
		return
	}
	d := time.Duration(0)
	if now := time.Now(); len(s.list) > 0 {
		d = p.wait(now, max(0, s.list[0].at.Sub(now)), 0)
	}
	s.timer.Reset(d)
}

func (s *alarms) remove(a *Alarm) {
	if a.in > 0 {
		heap.Remove(&s.list, a.in-1)
	}
}

// due removes an alarm that is due. over: none is set.
func (s *alarms) due(now time.Time) (a *Alarm, over bool) {
	if len(s.list) == 0 {
		s.timer = nil
		return nil, true
	}
	if now.Before(s.list[0].at) {
		return nil, false
	}
	return heap.Pop(&s.list).(*Alarm), false
}

// ring runs the goroutine that makes the calls.
func (p *Pace) ring() {
	p.mu.Lock()
	timer := p.alarms.timer
	p.mu.Unlock()
	for {
		<-timer.C
		for {
			p.mu.Lock()
			now := time.Now()
			p.updateIdle(now)
			a, over := p.alarms.due(now)
			if a == nil && !over {
				p.alarms.set(p)
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

// byTime is a heap.
type byTime []*Alarm

func (h byTime) Len() int           { return len(h) }
func (h byTime) Less(i, j int) bool { return h[i].at.Before(h[j].at) }

func (h byTime) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].in, h[j].in = i+1, j+1
}

func (h *byTime) Push(x any) {
	a := x.(*Alarm)
	*h = append(*h, a)
	a.in = len(*h)
}

func (h *byTime) Pop() any {
	last := len(*h) - 1
	a := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	a.in = 0
	return a
}
