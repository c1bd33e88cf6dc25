#!/bin/bash
# {{ runs }} runs in {{ shards }} parts on SLURM, then all joined. Submit with:
#     bash THIS_FILE
# Submitted again after a failure, it keeps the runs that are there and makes the others.
# Add what your cluster asks for here, such as --partition, --account and --time:
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu={{ memory_mb }}M
set -euo pipefail

sweep=({{ sweep }})
out={{ out }}
parts={{ parts }}

case "${1:-submit}" in
submit)
    array=$(sbatch --parsable --array=1-{{ shards }} --job-name=sojourn-part "$0" part)
    sbatch --dependency="afterok:${array%%;*}" --kill-on-invalid-dep=yes \
        --job-name=sojourn-merge "$0" merge
    ;;
part)
    "${sweep[@]}" --shard "$SLURM_ARRAY_TASK_ID/{{ shards }}" --jobs "$SLURM_CPUS_PER_TASK" \
        --resume --quiet --out "$parts/$SLURM_ARRAY_TASK_ID"
    ;;
merge)
    sojourn merge "$parts"/{1..{{ shards }}} --out "$out"
    ;;
esac
