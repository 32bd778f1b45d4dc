package diagnostics

// maxSpelled bounds the names that are compared, in bytes.
const maxSpelled = 128

// Distance is the number of bytes to insert, delete, change or swap with their neighbour to
// make b of a (optimal string alignment): for messages that ask whether another name was meant. Names over 128 bytes are as far apart as their
// length.
func Distance(a, b string) int {
	if len(a) > maxSpelled || len(b) > maxSpelled {
		return max(len(a), len(b))
	}
	var rows [3][maxSpelled + 1]int
	before, last, now := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}
