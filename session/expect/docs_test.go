package expect

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestDocs_ExampleIsValid_VerbsAreDocumented checks that the example in docs/expect.md is a valid script, and the page
// names each verb.
// FEATURES: R55
func TestDocs_ExampleIsValid_VerbsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/expect.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```yaml\nname: deploy\n")
	example, _, ok := strings.Cut(example, "```")
	if !ok {
		t.Fatal("the page has no example")
	}
	if problems := Check([]byte(example), LoadOptions{}); len(problems) > 0 {
		t.Errorf("the example has problems: %v", problems)
	}
	for _, v := range verbs {
		for _, key := range slices.Concat([]string{v.name}, v.modifiers) {
			if !strings.Contains(string(page), "`"+key+"`") && !strings.Contains(string(page), "`"+key+": ") {
				t.Errorf("%s of %s is not on the page", key, v.name)
			}
		}
	}
}
