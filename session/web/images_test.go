package web

import (
	"encoding/json"
	"slices"
	"testing"
)

// What the page wants of images and gave up before it was asked for is not asked for, until it is wanted again; the
// last wanted is asked for first, each once.
//
// FEATURES: R112
func TestPageAsksForImagesItKeeps(t *testing.T) {
	const script = `import { came, picture } from './images.js';
const asked = [], turn = {}, want = (k) => picture(k, turn, () => asked.push(k));
const first = want(0);
for (let k = 1; k < 3000; k++) want(k);
const before = asked.length;
for (let n = 0; n < asked.length; n++) came({ k: asked[n] });
const all = [...asked];
for (let k = 5000; k < 7000; k++) want(k);
const gone = want(4000); // waits, and is given up
for (let k = 7000; k < 9000; k++) want(k);
gone.want();
first.want();
for (let n = all.length; n < asked.length; n++) came({ k: asked[n] });
console.log(JSON.stringify({ before, all, more: asked.slice(all.length) }));`
	var got struct {
		Before    int
		All, More []int
	}
	if err := json.Unmarshal(module(t, script, "images.js"), &got); err != nil {
		t.Fatal(err)
	}
	const atOnce, most = 32, 1024
	run := func(from, n, step int) (out []int) {
		for i := range n {
			out = append(out, from+i*step)
		}
		return out
	}
	if want := append(run(0, atOnce, 1), run(2999, most, -1)...); got.Before != atOnce || !slices.Equal(got.All, want) {
		t.Errorf("%d were asked for at once, and %d in all: %v", got.Before, len(got.All), got.All)
	}
	want := slices.Concat(run(5000, atOnce, 1), []int{0, 4000}, run(8999, most, -1))
	if !slices.Equal(got.More, want) {
		t.Errorf("then %d: %v", len(got.More), got.More)
	}
}
