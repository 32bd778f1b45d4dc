package view

import "testing"

// FEATURES: R76
func TestGrid(t *testing.T) {
	cases := []struct {
		w, h, n    int
		cols, rows int // of the arrangement; panes shown may be fewer than n
	}{
		{80, 24, 1, 1, 1}, {160, 48, 2, 2, 1}, {80, 48, 2, 1, 2}, {160, 48, 4, 2, 2}, {240, 72, 9, 3, 3}, {500, 200, 1, 1, 1},
	}
	for _, c := range cases {
		got := grid(rect{0, 0, c.w, c.h}, c.n)
		xs, ys := map[int]bool{}, map[int]bool{}
		for _, r := range got {
			xs[r.x], ys[r.y] = true, true
		}
		if len(got) != c.n || len(xs) != c.cols || len(ys) != c.rows {
			t.Errorf("%d panes in %d×%d: %v; want %d×%d", c.n, c.w, c.h, got, c.cols, c.rows)
		}
	}
}

// Whatever the size: panes lie inside, do not overlap, leave the separators free and are
// not empty; at least one is shown.
func TestGridInvariants(t *testing.T) {
	for _, w := range []int{1, 2, 9, 10, 20, 21, 33, 80, 137, 500} {
		for _, h := range []int{1, 2, 3, 4, 5, 24, 51, 200} {
			for n := 1; n <= 60; n = n*3/2 + 1 {
				panes := grid(rect{0, 0, w, h}, n)
				if len(panes) == 0 || len(panes) > n {
					t.Fatalf("%d panes in %d×%d: %v", n, w, h, panes)
				}
				taken := map[[2]int]bool{}
				for _, r := range panes {
					if r.w < 1 || r.h < 1 || r.x < 0 || r.y < 0 || r.x+r.w > w || r.y+r.h > h {
						t.Fatalf("%d panes in %d×%d: %v", n, w, h, r)
					}
					for x := r.x; x <= r.x+r.w && x < w; x++ { // the separator included
						for _, y := range []int{r.y, r.y + r.h - 1} {
							if taken[[2]int{x, y}] && !(r.h == 1) {
								t.Fatalf("%d panes in %d×%d overlap at %d,%d: %v", n, w, h, x, y, panes)
							}
						}
					}
					for x := r.x; x <= r.x+r.w; x++ {
						for y := r.y; y < r.y+r.h; y++ {
							taken[[2]int{x, y}] = true
						}
					}
				}
			}
		}
	}
}

func TestWindow(t *testing.T) {
	ids := []string{"a", "b", "c", "d", "e"}
	for focus, want := range map[string]string{"a": "ab", "b": "ab", "c": "bc", "e": "de", "?": "ab"} {
		if got := window(ids, focus, 2); got[0]+got[1] != want {
			t.Errorf("around %s: %v; want %s", focus, got, want)
		}
	}
}
