package version

import "testing"

func TestParse(t *testing.T) {
	v, err := Parse("v1.20.3")
	if err != nil || v != (Version{Major: 1, Minor: 20, Patch: 3}) {
		t.Errorf("%v, %v", v, err)
	}
}
