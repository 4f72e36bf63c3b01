package process

// GroupHomes are the directories in which a control group can be made.
func GroupHomes() []string { return GroupHomesOf("/proc/self") }

// GroupHomesOf are those of a process, by its directory in /proc.
func GroupHomesOf(proc string) []string {
	var dirs []string
	for _, home := range groupHomes(proc) {
		dirs = append(dirs, home.dir)
	}
	return dirs
}

// Groups reports whether commands get a control group.
func (r *Runner) Groups() bool {
	made := newGroup(r.limits())
	made.remove()
	return !r.ungrouped && len(made) > 0
}
