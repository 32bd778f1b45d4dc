package search

import "container/heap"

// item is something that holds hits, or one. The search takes the item whose newest
// possible hit is the newest, and opens it: a group gives blocks, a block gives hits.
// When a hit comes first, nothing newer can be in what was not opened.
type item struct {
	bound Cursor // of the newest hit that may be in it
	kind  kind
	group group
	block *found
	hit   *Hit
}

// kind is what an item is.
type kind byte

const (
	aHit kind = iota
	aBlock
	aGroup
)

// found is a block, or a tail, that may hold hits.
type found struct {
	id      int64 // 0: a tail
	session string
	floor   uint64
	stats   stats
	tail    []byte
}

// queue is a heap of items.
type queue []item

// Len implements heap.Interface.
func (q queue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q queue) Less(i, j int) bool { return q[i].bound.compare(q[j].bound) > 0 }

// Swap implements heap.Interface.
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *queue) Push(v any) { *q = append(*q, v.(item)) }

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(*q) - 1
	v := (*q)[last]
	(*q)[last] = item{}
	*q = (*q)[:last]
	return v
}

func (q *queue) add(it item) { heap.Push(q, it) }

// next takes the item with the newest bound.
func (q *queue) next() item { return heap.Pop(q).(item) }
