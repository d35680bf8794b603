# clean
PARTITION ?= debug
ACCOUNT ?= $(SLURM_ACCOUNT)
HOST ?= localhost
DATA ?= /path/to/data
submit:
	sbatch -p $(PARTITION) -A $(ACCOUNT) job.sbatch
deploy:
	rsync -a build/ $(USER)@$(HOST):/srv/www/
test:
	python -m pytest -q tests --port 8000
