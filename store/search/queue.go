package search

import "container/heap"

// item is a hit, or a block or group that may contain hits. The search takes the item with the newest possible hit and
// opens it: a group yields blocks, a block yields hits. When a hit comes first, nothing newer can be in unopened items.
type item struct {
	bound Cursor // position of the newest hit that it may contain
	kind  kind
	group group
	block *candidate
	hit   *Hit
}

// kind is the type of an item.
type kind byte

const (
	kindHit kind = iota
	kindBlock
	kindGroup
)

// candidate is a block or a tail that may contain hits.
type candidate struct {
	id      int64 // 0: a tail
	session string
	floor   uint64 // offset before which lines were forgotten
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

// next removes and returns the item with the newest bound.
func (q *queue) next() item { return heap.Pop(q).(item) }
