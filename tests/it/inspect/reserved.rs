//! `kubectl dra reserved` on real objects.

use super::look;
use crate::support::command::dra_snapshot;

#[test]
fn stale_entries_are_distinguished() {
    dra_snapshot!(look(&["reserved"], "stale-reservations"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   CLAIM           KIND         NAME     UID                                    STATUS        CONSUMER
    default     deleting        pod          d        b7817070-fc67-4bf1-b5e7-e2c4ea4fef9e   Running       yes
    default     foreign         pod          f        1735204b-bb2a-4820-85a9-b4240837c309   Running       yes
    default     foreign         jobs.batch   render   5a3f6a52-8f0e-4d7e-9d43-1f0c2b0f6c11   UnknownKind   yes
    default     pod-done        pod          done     3ff743c2-a2f4-4847-97a4-05af144ee779   Done          no
    default     pod-gone        pod          gone     de623632-b26a-441d-a260-5a2b2b4e68c9   Gone          no
    default     pod-recreated   pod          again    37b74c3f-02d8-41d0-b320-7809f957c516   OtherUID      no
    default     pod-recreated   pod          again    e38e5496-71ec-41f6-9490-e0433f393d94   Missing       yes

    ----- stderr -----
    ");
}

#[test]
fn groups_are_looked_up_where_they_are_served() {
    dra_snapshot!(look(&["reserved"], "podgroups"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   CLAIM              KIND       NAME          UID                                    STATUS    CONSUMER
    default     llm-gpus           podgroup   llm-workers   842352f7-3990-42db-a869-a4f38c7dcc75   Group     yes
    default     mixed              podgroup   mix           ced4d335-ca13-4405-98e0-550222584724   Group     yes
    default     mixed              pod        solo          4fd09024-f9f3-4270-be8c-fd7fc353a4c4   Running   yes
    default     pair-0-nic-lzb77   pod        pair-0        ca091972-7c96-43f9-bdcb-8302bc4f92e9   Running   yes
    default     pair-1-nic-q8mcm   pod        pair-1        c9a849e1-a0c6-4f6a-b330-532e41372320   Running   yes
    default     pair-gpu           podgroup   pair          f0ea3314-9a19-4121-8c01-7b84446c4b5e   Group     yes
    default     sim-gpu-579qp      podgroup   sim           8ea5a27f-80f3-4ffb-a7b7-121238b94823   Group     yes

    ----- stderr -----
    ");
    dra_snapshot!(look(&["reserved"], "podgroups-gates-off"), @"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   CLAIM           KIND       NAME          UID                                    STATUS    CONSUMER
    default     conv-gpus       pod        conv-0        bf0005e8-831a-43c5-b271-8c7ce19d4892   Running   yes
    default     conv-gpus       pod        conv-1        2340200a-5a5d-46a5-b1df-180cf5c50bab   Running   yes
    default     llm-gpus        podgroup   llm-workers   7f547714-fab8-457b-a069-b5ef875f4dac   Group     yes
    default     llm-gpus        pod        llm-late      21bf4e45-0570-4801-9da6-e68c3878e6d9   Running   yes
    default     sim-gpu-4l52j   podgroup   sim           489953c6-162e-4d9b-80f9-963a7402ea49   Group     yes

    ----- stderr -----
    warning: PodGroups are not served: it is unknown whether the groups that claims are reserved for still exist
    ");
}

#[test]
fn pods_lose_their_claims_in_a_downgrade() {
    dra_snapshot!(look(&["reserved", "-A"], "downgrade-groups-1.36"), @"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   CLAIM                   KIND         NAME          UID                                    STATUS        CONSUMER
    default     both-gpu                podgroup     both          eee61d0b-920f-46d6-ad95-4b07ab245200   Group         yes
    default     both-gpu                pod          both-0        e783629a-6b83-4b3c-8e2b-4ba046c98829   Running       yes
    default     both-gpu                pod          both-1        d830cedc-c561-45a1-b548-bd4344616bbc   Running       yes
    default     both-nic-94rpf          podgroup     both          eee61d0b-920f-46d6-ad95-4b07ab245200   Group         no
    default     conv-gpu                pod          conv-0        8d66b68e-967d-4696-90cf-068140ae35b5   Running       yes
    default     conv-gpu                pod          conv-1        9b382110-68c9-4901-85ee-57303cd32885   Running       yes
    default     ended-gpu               podgroup     ended         86eb7139-d620-4b0e-a3e1-3208223a60bd   Group         no
    default     ended-gpu               pod          ended-0       f04f86d3-af85-43bc-a2e5-e5e27596fdf7   Done          no
    default     foreign                 pod          foreign-0     bae0aaf9-b7bd-4074-b11c-2eba6c5d645f   Running       yes
    default     foreign                 jobs.batch   sweep         6e3a0b4e-8a0e-4f6e-9a58-5a5f3d1c0a01   UnknownKind   yes
    default     gen-gpu-6lrvq           pod          gen-0         79d946d9-3d14-4854-a72f-62125040fe6c   Running       yes
    default     gen-gpu-6lrvq           pod          gen-1         df353b76-4269-46b9-bd54-90c2a5906cf6   Running       yes
    default     mixed                   podgroup     mix           6f4a5821-05d0-4102-b065-581016e56aec   Group         yes
    default     mixed                   pod          solo          3a812c4a-4c53-42d6-9ff6-24d9b0c0ea8d   Running       yes
    default     mixed                   pod          mix-0         adf2c9a6-1128-4591-9711-ac173eb7798f   Running       yes
    default     pair-0-nic-vwj26        pod          pair-0        cff1f16c-2852-423f-b87f-51f165c2d48d   Running       yes
    default     pair-gpu                podgroup     pair          7d6c1d3e-5a2e-4c53-bf75-e85f6e66a824   Group         yes
    default     pair-gpu                pod          pair-0        cff1f16c-2852-423f-b87f-51f165c2d48d   Running       yes
    default     plain-gpu               pod          plain-0       0b4dfeb6-4220-4c53-aacd-029f719494b4   Running       yes
    default     raw-gpu                 podgroup     raw           98d77294-0d98-43ab-9a86-3a1e129f90b4   Group         yes
    default     raw-gpu                 pod          raw-0         dbd9070c-a042-4ed5-a202-ddb644c99209   Running       yes
    default     raw-gpu                 pod          raw-1         51143fd2-55ce-43a9-ab20-2a93ca035361   Running       yes
    default     sim-gpu-2z6cl           podgroup     sim           b1d6cf70-a839-436f-b404-49032bae0668   Group         no
    default     tolerates-0-gpu-xqfnh   pod          tolerates-0   a23a5e92-ef93-458a-a107-228e6899d26d   Running       yes
    default     tpl-0-gpu-f7xxk         pod          tpl-0         cfcbb68c-944b-468f-ba7e-91198bb5b771   Running       yes
    team        team-gpu                podgroup     team          4bf901eb-3989-4151-998e-60d562bd2df7   Group         yes
    team        team-gpu                pod          team-0        b34f6e71-6c85-4c9a-92eb-42ef3bcb51c3   Running       yes
    default     both-0-nic-7rbvs        pod          both-0        e783629a-6b83-4b3c-8e2b-4ba046c98829   Missing       yes
    default     both-1-nic-jgk72        pod          both-1        d830cedc-c561-45a1-b548-bd4344616bbc   Missing       yes
    default     gen-0-gpu-wttfk         pod          gen-0         79d946d9-3d14-4854-a72f-62125040fe6c   Missing       yes
    default     gen-1-gpu-bgn6z         pod          gen-1         df353b76-4269-46b9-bd54-90c2a5906cf6   Missing       yes
    default     sim-0-gpu-tdgfz         pod          sim-0         f9b4487e-41d5-467f-a1c8-d226925f97c3   Missing       yes
    default     sim-1-gpu-vlnpn         pod          sim-1         c9c12cd2-8596-451a-a5c0-a1a2b2f51851   Missing       yes

    ----- stderr -----
    warning: PodGroups are not served: it is unknown whether the groups that claims are reserved for still exist
    ");
}

#[test]
fn everything_is_in_order() {
    dra_snapshot!(look(&["reserved", "-A"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   CLAIM                       KIND   NAME          UID                                    STATUS    CONSUMER
    default     notebook-gpu                pod    notebook      aacb5b20-c464-4976-995f-e9cc23c79acb   Running   yes
    inference   web-0-gpu-bw6jz             pod    web-0         70ed3c41-e7ef-4d45-953a-5165aee598fc   Running   yes
    inference   web-1-gpu-txq68             pod    web-1         41d53a92-911c-4b8d-b788-2438f8317d21   Running   yes
    training    sweep-glg98-devices-m9x2c   pod    sweep-glg98   459dd1a9-9594-40c5-af46-877e39472ee2   Running   yes
    training    sweep-krgjp-devices-875gq   pod    sweep-krgjp   c9d1e699-8a0c-4daa-a3a6-018dacf41345   Running   yes
    training    trainer-0-devices-w8cxl     pod    trainer-0     4bcf25f2-9bdf-42ef-aada-c5a8863f6f03   Running   yes
    training    trainer-1-devices-nkw6l     pod    trainer-1     c2063e6a-7584-4b92-8ccd-660afbce388a   Running   yes
    training    trainer-1-extra-zp8bf       pod    trainer-1     c2063e6a-7584-4b92-8ccd-660afbce388a   Running   yes

    ----- stderr -----
    ");
    dra_snapshot!(look(&["reserved"], "consumable-capacity"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   CLAIM               KIND   NAME      UID                                    STATUS    CONSUMER
    default     odd-nic-dwktf       pod    odd       f2ace667-32ad-4354-a09a-847d8ecca22f   Running   yes
    default     pair-nic-pchl9      pod    pair      c2309031-b15f-46b7-b06e-16622b513efa   Running   yes
    default     six-0-nic-j8kc9     pod    six-0     bcd7b90a-aea9-4887-9d0a-0ca352be95a8   Running   yes
    default     six-1-nic-bl6l7     pod    six-1     1b8ede2f-ad0f-4f2e-928c-f7c8e10773a2   Running   yes
    default     small-0-nic-nllcr   pod    small-0   a72ba395-c57b-4290-8509-5accd923d17b   Running   yes

    ----- stderr -----
    ");
}

#[test]
fn an_ended_pod_may_still_be_listed() {
    dra_snapshot!(look(&["reserved"], "shared-claims"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   CLAIM                         KIND   NAME                UID                                    STATUS    CONSUMER
    default     generated-running-gpu-cw8jk   pod    generated-running   449b6060-768e-41fe-a1ae-b721387a95cc   Running   yes
    default     shared                        pod    reader-0            ed3264b2-a2d5-4a3e-9303-33c85ba8390d   Running   yes
    default     shared                        pod    reader-1            f9351be1-d9b2-4850-bdcd-fa7008e07c8c   Running   yes
    default     shared                        pod    reader-2            250b04c9-a340-471c-aa6d-5801d2bc28ad   Running   yes
    default     shared                        pod    done                5f492afc-c369-4499-a86a-0904bf1f3592   Done      no

    ----- stderr -----
    ");
}

#[test]
fn a_pod_can_wait_with_an_entry() {
    dra_snapshot!(look(&["reserved"], "binding-conditions"), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   CLAIM                KIND   NAME       UID                                    STATUS    CONSUMER
    default     attached-gpu-5f5qz   pod    attached   fb6c4cbd-d896-4334-8994-1e958969bcfa   Running   yes
    default     waits-gpu-27ljm      pod    waits      10b321c3-54ba-4e94-8069-f71e89cd2c69   Pending   yes

    ----- stderr -----
    ");
}

#[test]
fn a_claim_can_be_without_entries() {
    dra_snapshot!(look(&["reserved", "spare"], "bound-pods"), @r"
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    No reservations found
    ");
}
