package session

// dropReplies drops the replies to queries that wait to be typed.
func (q *inputQueue) dropReplies() {
	q.mu.Lock()
	defer q.mu.Unlock()
	kept := q.queue[:0]
	for _, t := range q.queue {
		if t.reply {
			q.bytes -= len(t.data)
			q.replies -= len(t.data)
			continue
		}
		kept = append(kept, t)
	}
	q.queue = kept
}

// empty says that nothing waits to be typed.
func (q *inputQueue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.writing
}
